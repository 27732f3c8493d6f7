//! Float functions with the same results on every platform, for a whole program.

/// Makes the standard library's float functions return the same results on every platform, in the whole program.
///
/// This covers all functions but `powi` whose last bits the standard library leaves to the platform, such as `sin` and
/// `powf`. Invoke it once, in your game's `main.rs`, and enable the feature `enhanced-determinism`. Even with it,
/// Rapier calls the platform's C library for principal axes of inertia, joints, soft bodies and its tree of bounding
/// boxes.
///
/// ```standalone_crate
/// evenstep::portable_math!();
///
/// fn main() {
///     # let seconds = std::hint::black_box(1.7_f32);
///     // The same bits on every platform.
///     assert_eq!(seconds.sin(), 0.991_664_8);
/// }
/// ```
///
/// The macro defines these functions with the crate [`libm`](https://docs.rs/libm), under their C names, for all linked
/// libraries. They are as accurate as the platform's functions, but some are slower.
///
/// # Limits
/// - A second use is a linker error, and so is another crate that defines the same names.
/// - It works in executables and in WebAssembly. In a shared library on Linux, also tell the linker to prefer the
///   library's functions: `-C link-arg=-Wl,-Bsymbolic-functions`.
/// - The compiler may evaluate functions of constants at build time. Rapier's step has no such call.
/// - Functions that other crates implement themselves stay as they are.
#[macro_export]
macro_rules! portable_math {
    () => {
        const _: () = {
            $crate::__define_float_functions! {
                (x: f32) acosf asinf atanf cbrtf coshf cosf exp2f expf expm1f log10f log1pf log2f logf sinf sinhf tanf tanhf
            }
            $crate::__define_float_functions! {
                (x: f64) acos asin atan cbrt cosh cos exp2 exp expm1 log10 log1p log2 log sin sinh tan tanh
            }
            $crate::__define_float_functions! { (x: f32, y: f32) atan2f hypotf powf }
            $crate::__define_float_functions! { (x: f64, y: f64) atan2 hypot pow }
            // Compilers merge the sine and cosine of one number into these functions.
            $crate::__define_float_functions! { sincosf __sincosf_stret f32 = sinf, cosf }
            $crate::__define_float_functions! { sincos __sincos_stret f64 = sin, cos }
        };
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __define_float_functions {
    (($x:ident: $float:ident) $($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($x: $float) -> $float {
            $crate::__libm::$name($x)
        }
    )*};
    (($x:ident: $float:ident, $y:ident: $second:ident) $($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($x: $float, $y: $second) -> $float {
            $crate::__libm::$name($x, $y)
        }
    )*};
    ($both:ident $apple:ident $float:ident = $sin:ident, $cos:ident) => {
        #[cfg(not(target_vendor = "apple"))]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $both(x: $float, sin: *mut $float, cos: *mut $float) {
            // SAFETY: C's contract for this function is that both pointers can be written to.
            unsafe {
                *sin = $crate::__libm::$sin(x);
                *cos = $crate::__libm::$cos(x);
            }
        }

        #[cfg(target_vendor = "apple")]
        const _: () = {
            #[repr(C)]
            struct Both($float, $float);

            #[unsafe(no_mangle)]
            extern "C" fn $apple(x: $float) -> Both {
                Both($crate::__libm::$sin(x), $crate::__libm::$cos(x))
            }
        };
    };
}

#[doc(hidden)]
pub use libm as __libm;
