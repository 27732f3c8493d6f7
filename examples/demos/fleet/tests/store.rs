//! Tests that exactly one server runs a match, with leases in a real Redis.

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use evenstep_fleet::match_::Plan;
use evenstep_fleet::stage::Stage;
use evenstep_fleet::store::Lease;

const PLAN: Plan = Plan {
    players: 2,
    crates: 0,
    length: 1,
};

fn servers() -> [SocketAddr; 2] {
    [1, 2].map(|port| SocketAddr::from(([127, 0, 0, 1], port)))
}

#[tokio::test]
async fn a_match_belongs_to_one_server_until_it_is_released() -> Result<(), Box<dyn Error>> {
    let mut stage = Stage::new("unused", Duration::from_secs(1_000)).await?;
    let [one, other] = servers();
    stage.add_matches(2, PLAN).await?;
    let store = &mut stage.store;
    let first = store.take_up(one).await?.ok_or("no match is free")?.claim;
    let second = store.take_up(other).await?.ok_or("no match is free")?.claim;
    assert_eq!([first.id, second.id], [0, 1]);
    assert!(store.take_up(other).await?.is_none());
    assert_eq!(store.find(0).await?, Some(Some(one)));

    assert!(store.save(&first, b"one", Lease::Renew).await?.is_some());
    assert!(store.take_up(other).await?.is_none());
    assert!(store.save(&first, b"last", Lease::Release).await?.is_some());
    assert_eq!(store.find(0).await?, Some(None));

    // Without a lease a server saves and removes nothing, even if it held the match before.
    assert_eq!(store.save(&first, b"late", Lease::Renew).await?, None);
    let again = store.take_up(one).await?.ok_or("the match is not free")?;
    assert_eq!((again.claim.id, &again.bytes[..]), (0, &b"last"[..]));
    assert_eq!(store.save(&first, b"late", Lease::Renew).await?, None);
    assert!(!store.remove(&first).await?);

    assert!(store.remove(&again.claim).await?);
    assert_eq!(store.find(0).await?, None);
    assert_eq!(store.ids().await?, [1]);
    Ok(())
}

#[tokio::test]
async fn a_lease_that_is_not_renewed_expires() -> Result<(), Box<dyn Error>> {
    let mut stage = Stage::new("unused", Duration::from_millis(50)).await?;
    let [one, other] = servers();
    stage.add_matches(1, PLAN).await?;
    let store = &mut stage.store;
    let first = store.take_up(one).await?.ok_or("no match is free")?;
    let second = loop {
        if let Some(taken) = store.take_up(other).await? {
            break taken;
        }
    };
    // The lease ended here no later than in Redis.
    assert!(first.leased_until <= second.leased_until - Duration::from_millis(50));
    assert_eq!(store.save(&first.claim, b"late", Lease::Renew).await?, None);
    Ok(())
}
