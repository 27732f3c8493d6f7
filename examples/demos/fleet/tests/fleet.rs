//! Tests servers as separate processes, with a real Redis. They are killed, drained, or suspended for a while.
//!
//! A wall clock drives them. The assertions hold on a slow machine, too, unless a wait reaches its limit.

use std::error::Error;
use std::time::Duration;

use evenstep_fleet::client::{Log, compare, play_all};
use evenstep_fleet::match_::Plan;
use evenstep_fleet::sidecar::Call;
use evenstep_fleet::stage::{Running, Server, Stage, free_address};
use redis::RedisResult;
use rustix::process::Signal;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

const MATCHES: u64 = 3;
const PLAYERS: u8 = 2;
const PLAN: Plan = Plan {
    players: PLAYERS,
    crates: 12,
    length: 480,
};
/// Longer than a match takes on a very busy machine.
const LIMIT: Duration = Duration::from_secs(60);

type Tested = Result<(), Box<dyn Error>>;
type Players = JoinHandle<RedisResult<Vec<Log>>>;

async fn stage() -> Result<Stage, Box<dyn Error>> {
    let mut stage = Stage::new(env!("CARGO_BIN_EXE_fleet"), Duration::from_secs(2)).await?;
    stage.add_matches(MATCHES, PLAN).await?;
    Ok(stage)
}

/// Starts a server with all matches, and their players.
async fn server_with_players(stage: &Stage) -> Result<(Server, Players), Box<dyn Error>> {
    // The capacity is twice the number, because matches may return before the server has let go of them.
    let server = stage.server(2 * MATCHES as i64, free_address()?).await?;
    wait_for_calls(&server, &[Call::Matches(MATCHES as i64)]).await?;
    let players = tokio::spawn(play_all(stage.store.clone(), PLAYERS));
    Ok((server, players))
}

/// Starts a server that takes up matches of another one.
async fn ready_server(stage: &Stage) -> Result<Server, Box<dyn Error>> {
    let server = stage.server(MATCHES as i64, free_address()?).await?;
    wait_for_calls(&server, &[Call::Ready]).await?;
    Ok(server)
}

/// Waits until a server has made these calls in this order.
async fn wait_for_calls(server: &Server, calls: &[Call]) -> Tested {
    let waited = timeout(LIMIT, server.wait_for_calls(calls)).await;
    waited.map_err(|_| format!("{calls:?} are not in {:?}", server.sidecar.calls()).into())
}

/// Waits until the matches have ended. Checks that each player received all steps, and that each checksum equals that
/// of an uninterrupted run.
async fn finish_and_check(players: Players) -> Result<Vec<Log>, Box<dyn Error>> {
    let logs = timeout(LIMIT, players).await???;
    assert_eq!(logs.len() as u64, MATCHES * u64::from(PLAYERS));
    for log in &logs {
        let (compared, differ) = compare(PLAN, log);
        assert_eq!((differ, log.taken_back), (0, 0), "match {}", log.id);
        assert!(
            compared >= log.rows.len() && log.rows.len() > 400,
            "match {}",
            log.id
        );
    }
    Ok(logs)
}

/// Returns how often matches moved, and the largest number of resimulated steps.
fn moves(logs: &[Log]) -> (usize, u64) {
    let handovers = || logs.iter().flat_map(|log| &log.handovers);
    (
        handovers().count(),
        handovers()
            .map(|handover| handover.again)
            .max()
            .unwrap_or(0),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn matches_of_a_killed_server_continue_on_another() -> Tested {
    let stage = stage().await?;
    let (killed, players) = server_with_players(&stage).await?;
    let other = ready_server(&stage).await?;
    sleep(Duration::from_secs(2)).await;
    killed.process.signal(Signal::KILL)?;
    let logs = finish_and_check(players).await?;
    let (handovers, again) = moves(&logs);
    assert_eq!(handovers, logs.len());
    // The matches continued after their last save, which was a second ago at most on a machine that keeps up.
    assert!((1..PLAN.length).contains(&again), "{again}");
    let (none, all) = (Call::Matches(0), Call::Matches(MATCHES as i64));
    wait_for_calls(
        &other,
        &[Call::Ready, Call::Allocate, all, Call::Ready, none],
    )
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_receives_sigterm_hands_over_its_matches() -> Tested {
    let stage = stage().await?;
    let (mut drained, players) = server_with_players(&stage).await?;
    let other = ready_server(&stage).await?;
    wait_for_calls(&drained, &[Call::Health, Call::Health]).await?;
    drained.process.signal(Signal::TERM)?;
    assert!(timeout(LIMIT, drained.process.ended()).await??.success());
    // The other servers need not wait for the leases to end.
    let mut store = stage.store.clone();
    for id in 0..MATCHES {
        assert_ne!(store.find(id).await?, Some(Some(drained.address)));
    }
    let logs = finish_and_check(players).await?;
    // No step is run twice.
    assert_eq!(moves(&logs), (logs.len(), 0));
    let states = |server: &Server| {
        let mut calls = server.sidecar.calls();
        calls.retain(|call| matches!(call, Call::Ready | Call::Allocate | Call::Shutdown));
        calls
    };
    assert_eq!(
        states(&drained),
        [Call::Ready, Call::Allocate, Call::Shutdown]
    );
    wait_for_calls(&other, &[Call::Matches(0)]).await?;
    assert_eq!(states(&other), [Call::Ready, Call::Allocate, Call::Ready]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_suspended_past_its_lease_gives_up_its_matches() -> Tested {
    let stage = stage().await?;
    let (stopped, players) = server_with_players(&stage).await?;
    let other = ready_server(&stage).await?;
    sleep(Duration::from_secs(1)).await;
    stopped.process.signal(Signal::STOP)?;
    wait_for_calls(&other, &[Call::Matches(MATCHES as i64)]).await?;
    stopped.process.signal(Signal::CONT)?;
    wait_for_calls(&stopped, &[Call::Matches(MATCHES as i64), Call::Matches(0)]).await?;
    // The move happens at once, not at the end of the matches.
    assert_eq!(other.sidecar.matches(), MATCHES as i64);
    let logs = finish_and_check(players).await?;
    assert_eq!(moves(&logs).0, logs.len());
    Ok(())
}

/// Suspends a process for a time that is longer than the lease.
async fn suspend_for(process: &Running, time: Duration) -> Tested {
    process.signal(Signal::STOP)?;
    sleep(time).await;
    Ok(process.signal(Signal::CONT)?)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lone_server_continues_its_matches_after_a_suspension() -> Tested {
    let stage = stage().await?;
    let (server, players) = server_with_players(&stage).await?;
    sleep(Duration::from_secs(1)).await;
    suspend_for(&server.process, Duration::from_secs(3)).await?;
    finish_and_check(players).await?;
    wait_for_calls(&server, &[Call::Matches(0)]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn matches_stop_while_redis_is_suspended_and_then_continue() -> Tested {
    let stage = stage().await?;
    let (server, players) = server_with_players(&stage).await?;
    sleep(Duration::from_secs(1)).await;
    suspend_for(&stage.redis, Duration::from_secs(4)).await?;
    let logs = finish_and_check(players).await?;
    // The silence begins when the lease ends, and the lease was renewed at most a second before. Without the silence,
    // another server might run the match, too.
    let silence = logs.iter().map(|log| log.longest_silence).min();
    assert!(silence > Some(Duration::from_secs(2)), "{silence:?}");
    wait_for_calls(&server, &[Call::Matches(0)]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn prometheus_collects_the_metrics_of_the_server() -> Tested {
    let stage = stage().await?;
    let figures = free_address()?;
    let prometheus = stage.prometheus(&[figures]).await?;
    let server = stage.server(MATCHES as i64, figures).await?;
    let players = tokio::spawn(play_all(stage.store.clone(), PLAYERS));
    wait_for_calls(&server, &[Call::Matches(MATCHES as i64), Call::Matches(0)]).await?;
    finish_and_check(players).await?;
    let gone = "evenstep_matches_gone_total{why=\"finished\"}";
    timeout(LIMIT, async {
        while prometheus.ask(gone).await.ok() != Some(MATCHES as f64) {
            sleep(Duration::from_millis(100)).await;
        }
    })
    .await?;
    assert_eq!(
        prometheus.ask("evenstep_matches_taken_up_total").await?,
        MATCHES as f64
    );
    assert_eq!(prometheus.ask("evenstep_matches").await?, 0.0);
    let steps = prometheus.ask("evenstep_steps_total").await?;
    assert_eq!(steps, (MATCHES * PLAN.length) as f64);
    assert_eq!(
        prometheus
            .ask("evenstep_step_lateness_seconds_count")
            .await?,
        steps
    );
    let load = "max_over_time(evenstep_step_load[10m])";
    assert!(prometheus.ask(load).await? > 0.0);
    assert!(
        prometheus
            .ask("evenstep_saved_bytes_total / evenstep_saves_total")
            .await?
            > 1_000.0
    );
    Ok(())
}
