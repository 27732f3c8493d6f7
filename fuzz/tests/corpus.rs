//! Runs the seeds of every target, and every input that has found a defect.

use std::path::Path;

use clap::ValueEnum;
use evenstep_fuzz::{Runs, Tally, Target, hush};

/// Checks the corpus. Panics print nothing, so the test returns the defect as an error.
#[test]
fn no_input_of_the_corpus_breaks_a_law() -> Result<(), String> {
    hush(false);
    for target in Target::value_variants() {
        let name = target
            .to_possible_value()
            .ok_or("every target has a name")?;
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        let runs = Runs::new(*target, 1, &corpus.join(name.get_name()))
            .map_err(|error| error.to_string())?;
        let mut tally = Tally::default();
        (0..runs.unchanged()).for_each(|number| runs.run(number, &mut tally));
        if !tally.is_fine(false) {
            return Err(format!("{target:?}: {tally:#?}"));
        }
    }
    Ok(())
}

#[test]
fn every_seed_loads_and_runs_without_a_defect() -> Result<(), String> {
    hush(false);
    for target in Target::value_variants() {
        for seed in target.seeds() {
            let mut tally = Tally::default();
            target.run(&seed, &mut tally);
            let is_loaded = tally.loads > 0 || *target == Target::Calls;
            if !is_loaded || !tally.panics.is_empty() || !tally.is_fine(false) {
                return Err(format!("{target:?}: {tally:#?}"));
            }
        }
    }
    Ok(())
}
