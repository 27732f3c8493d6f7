//! Float functions that are the same on every platform, for a whole program.

/// Makes the float functions of the standard library the same on every platform, in the whole program: `sin`, `cos`,
/// `acos`, `exp`, `powf` and all others whose last bits the standard library leaves to the platform, for `f32` and
/// `f64`.
///
/// Write it once, in the `main.rs` of a game whose runs must agree to the bit between machines, beside the feature
/// `enhanced-determinism`:
///
/// ```standalone_crate
/// evenstep::portable_math!();
///
/// fn main() {
///     # let seconds = std::hint::black_box(1.7_f32);
///     // To the bit as everywhere else.
///     assert_eq!(seconds.sin(), 0.991_664_8);
/// }
/// ```
///
/// # Why
/// With `enhanced-determinism` Rapier still calls the platform's C library in some places, and each C library, and each
/// version of it, rounds in another way:
/// - `acosf`, `cosf` for the principal axes of inertia: of compounds, convex hulls, meshes, voxels, and of bodies with
///   several colliders;
/// - `sinf`, `cosf`, `asinf` for limits and motors of angles in joints;
/// - `powf`, `expf`, `acosf` for soft bodies;
/// - `log2f` for how much of the tree of bounding boxes is made anew at a time.
///
/// Bodies with one ball, cuboid, capsule, cylinder, cone or rounded one of these, and joints without limits and motors
/// of angles, need none of them. [`fingerprint`](crate::fingerprint) says whether two machines agree.
///
/// # How
/// The standard library calls these functions by their names in C, and a program's own definition of a name has
/// precedence over the one of a library. The macro defines them by the crate [`libm`](https://docs.rs/libm), which is
/// written in Rust. Other libraries that are linked into the program, also those in C, use them too. They are as exact
/// as the platform's, and some of them slower.
///
/// # Limits
/// - Once in a program: a second time is an error of the linker, as is another crate that defines the same names.
/// - In an executable and in WebAssembly. In a shared library on Linux, as for an engine that loads the game, also tell
///   the linker to prefer the library's own functions: `-C link-arg=-Wl,-Bsymbolic-functions`.
/// - The compiler may compute a function of a constant when it builds: `2.0_f32.sin()` written like this. Rapier's step
///   has none; parry has one, of which feature of a convex polyhedron is nearest to a direction.
/// - Functions of vectors of other crates that do not call the standard library stay as they are.
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
            // What a compiler makes of a sine and a cosine of one number.
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
            // SAFETY: C's contract of this function: both can be written.
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
