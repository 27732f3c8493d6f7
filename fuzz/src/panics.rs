//! Panics by location.

use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

/// A caught panic.
#[derive(Clone, Debug)]
pub struct Panic {
    /// The file and line. For a panic in Rapier, also the caller in evenstep, and for any other panic its message.
    pub place: String,
    /// Whether the panic is in evenstep, or reports a broken law of a test.
    pub is_ours: bool,
}

/// Parts of paths that identify Rapier, and the folder of evenstep's sources and tests.
const RAPIERS: [&str; 2] = ["/rapier3d-", "/parry3d-"];
static EVENSTEP: LazyLock<String> = LazyLock::new(|| {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).display().to_string()
});

/// The number of panics at one location for which a backtrace is captured, which is slow.
const LOOKS: usize = 20;

thread_local! {
    static LAST: RefCell<Option<Panic>> = const { RefCell::new(None) };
}

/// The last panic in any thread. A panic of a physics thread is resumed here.
static LAST_OF_ALL: Mutex<Option<Panic>> = Mutex::new(None);

/// Records the location of each panic, and prints nothing unless `is_loud`.
pub fn hush(is_loud: bool) {
    let known: Mutex<BTreeMap<String, Vec<Panic>>> = Mutex::new(BTreeMap::new());
    set_hook(Box::new(move |info| {
        let at = place(info);
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = known.entry(at.clone()).or_default();
        if seen.len() < LOOKS {
            let backtrace = Backtrace::force_capture().to_string();
            if is_loud {
                eprintln!("{info}\n{backtrace}");
            }
            seen.push(look(at, &backtrace, info));
        }
        let panic = seen.last().cloned();
        drop(known);
        *LAST_OF_ALL.lock().unwrap_or_else(PoisonError::into_inner) = panic.clone();
        LAST.set(panic);
    }));
}

/// Calls the function, and returns its result or its panic.
pub fn guard<T>(call: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|_| {
        let elsewhere = || LAST_OF_ALL.lock().ok().and_then(|mut panic| panic.take());
        LAST.take().or_else(elsewhere).unwrap_or(Panic {
            place: "a panic that the hook did not record".into(),
            is_ours: true,
        })
    })
}

fn place(info: &PanicHookInfo) -> String {
    let location = info.location();
    location.map_or("unknown location".into(), |at| {
        format!("{}:{}", short(at.file()), at.line())
    })
}

/// Returns the part of a path from the package's name on.
fn short(path: &str) -> &str {
    let package = path.rfind("/src/").or(path.rfind("/tests/")).unwrap_or(0);
    path[..package]
        .rfind('/')
        .map_or(path, |at| &path[at + 1..])
}

fn look(at: String, backtrace: &str, info: &PanicHookInfo) -> Panic {
    // This hook is also in evenstep's sources.
    let after_hook = backtrace
        .lines()
        .skip_while(|line| !line.contains("rust_begin_unwind"));
    let mut files = after_hook.filter_map(|line| line.trim().strip_prefix("at "));
    let is_rapiers = |file: &&str| RAPIERS.iter().any(|name| file.contains(name));
    let is_evensteps = |file: &&str| file.starts_with(EVENSTEP.as_str()) || file.starts_with("./");
    let inner = files.find(|file| is_rapiers(file) || is_evensteps(file));
    // A small function of Rapier may have been inlined and have no stack frame.
    let own = info.location().map_or("", |at| at.file());
    let is_ours = !is_rapiers(&own) && inner.is_none_or(|file| !is_rapiers(&file));
    let caller = inner.into_iter().chain(files).find(is_evensteps);
    let message = info.payload_as_str().unwrap_or_default();
    let message: String = message.lines().flat_map(str::chars).take(100).collect();
    let caller = caller
        .and_then(|file| file.rsplit_once(':'))
        .map_or("?", |(file, _)| short(file));
    Panic {
        place: if is_ours {
            format!("{at}: {message}")
        } else {
            format!("{at}, called by {caller}")
        },
        is_ours,
    }
}
