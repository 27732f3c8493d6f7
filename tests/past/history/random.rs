//! Random games: `pose_at` and `world_at` agree with a list of the poses after each step.

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(scenes::cases::scaled(200)))]

    /// For each kept tick, `pose_at` returns the pose that the body had right after that step, and `world_at` agrees.
    #[test]
    fn pose_at_and_world_at_match_a_model_in_random_games(
        actions in prop::collection::vec(action(), 1..60),
        states in 2..25u64,
        seed in any::<u64>(),
    ) {
        let (mut simulation, key) = flyer(states);
        let wall = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
        let mut run = Run {
            keys: vec![key, wall],
            len: states - 1,
            seed: seed >> 8,
            ..Run::default()
        };
        run.see_all(&simulation.physics);
        for action in actions {
            act(&mut run, &mut simulation, action);
            run.check(&simulation);
        }
    }
}
