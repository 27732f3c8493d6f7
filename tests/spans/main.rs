//! The spans of the feature `tracing`, and how they nest.

use evenstep::rewind::Kept;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex};
use std::thread::{self, ThreadId};

use evenstep::rapier::pipeline::PhysicsHooks;
use evenstep::threads::{Overlap, Runner, RunnerSettings};
use evenstep::{Hooks, Physics, Step};
use scenes::{MS, PATIENCE, flyer_in_space};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// Every span that was entered, by thread. Each has one line, indented by two spaces for each span around it.
#[derive(Clone, Default)]
struct Entered(Arc<Mutex<BTreeMap<String, Vec<String>>>>);

impl Entered {
    fn here(&self) -> Vec<String> {
        self.of(thread::current().id())
    }

    fn of(&self, thread: ThreadId) -> Vec<String> {
        let lines = self.0.lock().unwrap();
        lines
            .get(&format!("{thread:?}"))
            .cloned()
            .unwrap_or_default()
    }
}

/// A span's fields, as `name=value`.
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0 += &format!(" {field}={value:?}");
    }
}

impl<S: tracing::Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Entered {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut line = Fields(attributes.metadata().name().to_owned());
        attributes.record(&mut line);
        let span = context.span(id).unwrap();
        span.extensions_mut().insert(line);
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        let depth = span.scope().count() - 1;
        let line = "  ".repeat(depth) + &span.extensions().get::<Fields>().unwrap().0;
        let mut lines = self.0.lock().unwrap();
        let thread = format!("{:?}", thread::current().id());
        lines.entry(thread).or_default().push(line);
    }
}

/// One subscriber for the whole process, set before the first span. A span that is first entered on a thread without a
/// subscriber may be disabled, even for the subscribers of other threads.
static ENTERED: LazyLock<Entered> = LazyLock::new(|| {
    let entered = Entered::default();
    let subscriber = tracing_subscriber::registry().with(entered.clone());
    tracing::subscriber::set_global_default(subscriber).expect("no other subscriber is set");
    entered
});

/// Returns the spans that this thread enters in `run`. Each test has a separate thread.
fn spans_of(run: impl FnOnce()) -> Vec<String> {
    let before = ENTERED.here().len();
    run();
    ENTERED.here().split_off(before)
}

#[test]
fn phase_spans_nest_in_step_spans_and_steps_in_frames() {
    LazyLock::force(&ENTERED);
    let (mut simulation, _) = flyer_in_space();
    simulation.advance(MS(15), |_, _| ());
    let spans = spans_of(|| {
        simulation.advance(MS(20), |_, _| {
            tracing::info_span!("of the game").in_scope(|| ());
        });
    });
    assert_eq!(
        spans,
        [
            "frame number=2 frame_time=0.02",
            "  step tick=1 is_resimulated=false",
            "    before_step",
            "      of the game",
            "    forces",
            "    take_poses",
            "    rapier tick=1",
            "    forces",
            "    take_poses",
            "    after_step",
            "  step tick=2 is_resimulated=false",
            "    before_step",
            "      of the game",
            "    forces",
            "    take_poses",
            "    rapier tick=2",
            "    forces",
            "    take_poses",
            "    after_step",
            "  show_poses",
        ]
    );
}

#[test]
fn phase_spans_of_pulled_steps_nest_in_the_games_span() {
    LazyLock::force(&ENTERED);
    let (mut simulation, _) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 8,
        ..simulation.kept()
    });
    let spans = spans_of(|| {
        let _frame = tracing::info_span!("game").entered();
        simulation.begin_frame(MS(10));
        while simulation.next_step().is_some() {
            simulation.run_step();
        }
        simulation.end_frame();
    });
    assert_eq!(
        spans,
        [
            "game",
            "  keep_state",
            "  forces",
            "  take_poses",
            "  rapier tick=0",
            "  forces",
            "  take_poses",
            "  show_poses",
        ]
    );
}

#[test]
fn resimulated_steps_are_marked() {
    LazyLock::force(&ENTERED);
    let (mut simulation, _) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 8,
        ..simulation.kept()
    });
    simulation.advance(MS(30), |_, _| ());
    let spans = spans_of(|| {
        simulation.resimulate(1, |_, _| ()).unwrap();
    });
    let steps: Vec<_> = spans
        .iter()
        .filter(|span| span.contains("step tick"))
        .collect();
    assert_eq!(
        steps,
        [
            "step tick=1 is_resimulated=true",
            "step tick=2 is_resimulated=true"
        ]
    );
}

/// Reports the thread that it is on, and each step that has run.
struct Game(std::sync::mpsc::Sender<(ThreadId, u64)>);

impl Hooks for Game {
    type Error = std::convert::Infallible;

    fn after_step(&mut self, _: &mut Physics, step: Step) -> Result<(), Self::Error> {
        let _ = self.0.send((thread::current().id(), step.tick));
        Ok(())
    }
}

#[test]
fn steps_of_a_runner_are_in_frame_spans_of_its_thread() {
    LazyLock::force(&ENTERED);
    let (steps, completed) = std::sync::mpsc::channel();
    let runner = Runner::new(flyer_in_space().0, Game(steps), RunnerSettings::default()).unwrap();
    let (thread, _) = completed.recv_timeout(PATIENCE).expect("a step runs");
    // Ends the thread after the current step.
    drop(runner.stop());

    let spans = ENTERED.of(thread);
    // This thread does not display poses.
    let first: Vec<_> = spans.iter().take(9).map(String::as_str).collect();
    assert_eq!(
        first,
        [
            "frame number=1 frame_time=0.01",
            "  step tick=0 is_resimulated=false",
            "    before_step",
            "    forces",
            "    take_poses",
            "    rapier tick=0",
            "    forces",
            "    take_poses",
            "    after_step",
        ]
    );
    assert!(!spans.iter().any(|span| span.contains("show_poses")));
}

/// Sends the thread on which Rapier's hooks are dropped, which is that of the step.
struct StepThread(std::sync::mpsc::Sender<ThreadId>);

impl PhysicsHooks for StepThread {}

impl Drop for StepThread {
    fn drop(&mut self) {
        let _ = self.0.send(thread::current().id());
    }
}

struct OverlapGame(std::sync::mpsc::Sender<ThreadId>);

impl Hooks for OverlapGame {
    type Error = std::convert::Infallible;

    fn physics_hooks(&self) -> Option<Arc<dyn PhysicsHooks + Send + Sync>> {
        Some(Arc::new(StepThread(self.0.clone())))
    }
}

#[test]
fn the_spans_of_an_overlaps_step_are_on_both_threads() {
    LazyLock::force(&ENTERED);
    let (sender, threads) = std::sync::mpsc::channel();
    let mut game = OverlapGame(sender);
    let mut overlap = Overlap::new(flyer_in_space().0).unwrap();
    let spans = spans_of(|| {
        overlap.frame(MS(10), &mut game).unwrap();
        overlap.simulation(&mut game).unwrap();
    });
    assert_eq!(
        spans,
        [
            "frame number=1 frame_time=0.01",
            "  step tick=0 is_resimulated=false",
            "    before_step",
            "show_poses",
            "step tick=0 is_resimulated=false",
            "  after_step",
        ]
    );
    let thread = threads.recv_timeout(PATIENCE).expect("the step has run");
    assert_eq!(
        ENTERED.of(thread),
        [
            "step tick=0 is_resimulated=false",
            "  forces",
            "  take_poses",
            "  rapier tick=0",
            "  forces",
            "  take_poses",
        ]
    );
}
