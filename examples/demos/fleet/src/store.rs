//! The matches of the fleet in Redis: their last saves, and the server that runs each.
//!
//! | key | value |
//! | --- | --- |
//! | `evenstep:matches` | the set of the matches' numbers |
//! | `evenstep:match:ID` | a match as bytes |
//! | `evenstep:lease:ID` | the address of the server that runs the match and the number of the lease, for a limited
//! time |
//! | `evenstep:leases` | how many leases there have been |

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use evenstep_server::match_::Id;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{AsyncCommands, RedisResult, Script};
use tokio::time::Instant;

const MATCHES: &str = "evenstep:matches";

fn match_key(id: Id) -> String {
    format!("evenstep:match:{id}")
}

fn lease_key(id: Id) -> String {
    format!("evenstep:lease:{id}")
}

/// A connection to Redis. Clones share it, and it reconnects after a failure.
#[derive(Clone)]
pub struct Store {
    connection: ConnectionManager,
    lease: Duration,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (f.debug_struct("Store").field("lease", &self.lease)).finish_non_exhaustive()
    }
}

/// The right to run a match. It is unique, even if the same server takes up the match again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The match.
    pub id: Id,
    /// The value of the lease.
    holder: String,
}

/// A match that this server may run.
#[derive(Debug)]
pub struct Taken {
    /// The right to run the match.
    pub claim: Claim,
    /// The last save of the match.
    pub bytes: Vec<u8>,
    /// No other server takes up the match before this time.
    pub leased_until: Instant,
}

/// What happens to the lease when a match is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease {
    /// The lease starts again.
    Renew,
    /// The lease ends, so another server may take up the match.
    Release,
}

impl Store {
    /// Connects to Redis at a URL. A match is free for other servers if its server has not saved it for the time
    /// `lease`.
    ///
    /// # Errors
    /// If there is no answer.
    pub async fn connect(url: &str, lease: Duration) -> RedisResult<Self> {
        let config = ConnectionManagerConfig::new().set_max_delay(Duration::from_millis(500));
        let client = redis::Client::open(url)?;
        let connection = client.get_connection_manager_with_config(config).await?;
        Ok(Self { connection, lease })
    }

    /// Adds a match, for any server to take up.
    ///
    /// # Errors
    /// An error of Redis.
    pub async fn add(&mut self, id: Id, bytes: &[u8]) -> RedisResult<()> {
        redis::pipe()
            .atomic()
            .set(match_key(id), bytes)
            .sadd(MATCHES, id)
            .ignore()
            .exec_async(&mut self.connection)
            .await
    }

    /// Returns all matches.
    ///
    /// # Errors
    /// An error of Redis.
    pub async fn ids(&mut self) -> RedisResult<Vec<Id>> {
        self.connection.smembers(MATCHES).await
    }

    /// Returns the server that runs a match, if there is one, or `None` if the match has ended.
    ///
    /// # Errors
    /// An error of Redis.
    pub async fn find(&mut self, id: Id) -> RedisResult<Option<Option<SocketAddr>>> {
        let (is_there, holder): (bool, Option<String>) = redis::pipe()
            .atomic()
            .sismember(MATCHES, id)
            .get(lease_key(id))
            .query_async(&mut self.connection)
            .await?;
        let address = |holder: String| holder.split(' ').next()?.parse().ok();
        Ok(is_there.then(|| holder.and_then(address)))
    }

    /// Takes up one match that no server runs, for the server at an address.
    ///
    /// # Errors
    /// An error of Redis.
    pub async fn take_up(&mut self, address: SocketAddr) -> RedisResult<Option<Taken>> {
        let script = Script::new(
            "for _, id in ipairs(redis.call('smembers', KEYS[1])) do
                local lease = 'evenstep:lease:' .. id
                if redis.call('exists', lease) == 0 then
                    local holder = ARGV[1] .. ' ' .. redis.call('incr', 'evenstep:leases')
                    redis.call('set', lease, holder, 'PX', ARGV[2])
                    return {id, holder, redis.call('get', 'evenstep:match:' .. id)}
                end
            end
            return false",
        );
        // The time is taken before the request, so the lease ends here no later than in Redis.
        let leased_until = Instant::now() + self.lease;
        let taken: Option<(Id, String, Vec<u8>)> = script
            .key(MATCHES)
            .arg(address.to_string())
            .arg(self.lease.as_millis() as u64)
            .invoke_async(&mut self.connection)
            .await?;
        Ok(taken.map(|(id, holder, bytes)| Taken {
            claim: Claim { id, holder },
            bytes,
            leased_until,
        }))
    }

    /// Saves a match. Returns when its lease ends, or `None` if the claim is no longer valid. Then nothing is saved.
    ///
    /// # Errors
    /// An error of Redis.
    pub async fn save(
        &mut self,
        claim: &Claim,
        bytes: &[u8],
        lease: Lease,
    ) -> RedisResult<Option<Instant>> {
        // Redis deletes a key that expires after no time.
        let script = Script::new(
            "if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
            redis.call('set', KEYS[2], ARGV[3])
            redis.call('pexpire', KEYS[1], ARGV[2])
            return 1",
        );
        let lease = match lease {
            Lease::Renew => self.lease,
            Lease::Release => Duration::ZERO,
        };
        let leased_until = Instant::now() + lease;
        let is_saved: bool = script
            .key(lease_key(claim.id))
            .key(match_key(claim.id))
            .arg(&claim.holder)
            .arg(lease.as_millis() as u64)
            .arg(bytes)
            .invoke_async(&mut self.connection)
            .await?;
        Ok(is_saved.then_some(leased_until))
    }

    /// Removes a match that has ended, if the claim is still valid.
    ///
    /// # Errors
    /// An error of Redis.
    pub async fn remove(&mut self, claim: &Claim) -> RedisResult<bool> {
        let script = Script::new(
            "if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
            redis.call('del', KEYS[1], KEYS[2])
            redis.call('srem', KEYS[3], ARGV[2])
            return 1",
        );
        script
            .key(lease_key(claim.id))
            .key(match_key(claim.id))
            .key(MATCHES)
            .arg(&claim.holder)
            .arg(claim.id)
            .invoke_async(&mut self.connection)
            .await
    }
}
