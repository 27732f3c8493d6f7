//! Mutations of inputs, with the crate `mutatis`. It makes custom mutations easy, takes a seed, and needs no
//! instrumented build.

use mutatis::{Candidates, Context, Mutate, Result};
use serde_json::{Number, Value};

/// Mutates bytes from `from` on. The bytes that it writes also come from a dictionary.
pub struct Bytes {
    pub from: usize,
    pub words: &'static [&'static [u8]],
}

/// Bytes that may cause trouble in postcard and Rapier.
pub const WORDS: &[&[u8]] = &[
    &[0],
    &[1],
    &[0x7f],
    &[0xff, 0xff, 0xff, 0xff, 0x0f],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
    &[0x80, 0x80, 0x04],
    &f32::NAN.to_le_bytes(),
    &f32::INFINITY.to_le_bytes(),
    &f32::MAX.to_le_bytes(),
    &1e20_f32.to_le_bytes(),
    &f32::MIN_POSITIVE.to_le_bytes(),
    &(-1.0_f32).to_le_bytes(),
    &0.0_f32.to_le_bytes(),
];

/// Words that may cause trouble in readers of text.
pub const TEXT: &[&[u8]] = &[
    b"0",
    b"-1",
    b"1e999",
    b"1e308",
    b"18446744073709551615",
    b"NaN",
    b"inf",
    b"null",
    b"\"",
    b",",
    b"\n",
    b"[",
    b"]",
    b"{",
    b"}",
    b"#",
    b"fps",
    b"frametime",
    b"FrameTime",
    b"MsBetweenPresents",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\\u0000",
];

impl Bytes {
    fn place(&self, context: &mut Context, bytes: &[u8]) -> usize {
        let len = bytes.len().saturating_sub(self.from);
        self.from.min(bytes.len()) + context.rng().gen_index(len + 1).unwrap_or(0)
    }

    /// Returns a range of bytes, usually a short one.
    fn range(&self, context: &mut Context, bytes: &[u8]) -> std::ops::Range<usize> {
        let start = self.place(context, bytes);
        let most = 1 << context.rng().gen_index(9).unwrap_or(0);
        let len = 1 + context.rng().gen_index(most).unwrap_or(0);
        start..(start + len).min(bytes.len())
    }
}

impl Mutate<Vec<u8>> for Bytes {
    fn mutate(&mut self, candidates: &mut Candidates, bytes: &mut Vec<u8>) -> Result<()> {
        candidates.mutation(|context| {
            bytes.drain(self.range(context, bytes));
            Ok(())
        })?;
        for _ in 0..4 {
            candidates.mutation(|context| {
                let at = self.place(context, bytes);
                let change = 1 << context.rng().gen_index(8).unwrap_or(0);
                let any = context.rng().gen_u8();
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = if context.rng().gen_bool() {
                        any
                    } else {
                        *byte ^ change
                    };
                }
                Ok(())
            })?;
            candidates.mutation(|context| {
                let word = *context.rng().choose(self.words).unwrap_or(&&[][..]);
                let at = self.place(context, bytes);
                // The word replaces as many bytes as it has, one byte, or none.
                let over = *context.rng().choose(&[word.len(), 1, 0]).unwrap_or(&0);
                let end = (at + over).min(bytes.len());
                bytes.splice(at..end, word.iter().copied());
                Ok(())
            })?;
        }
        candidates.mutation(|context| {
            let copied = bytes[self.range(context, bytes)].to_vec();
            let at = self.place(context, bytes);
            let over = if context.rng().gen_bool() {
                copied.len()
            } else {
                0
            };
            let end = (at + over).min(bytes.len());
            bytes.splice(at..end, copied);
            Ok(())
        })
    }
}

/// Mutates a document of serde: numbers, lengths of lists, variants and options.
pub struct Tree {
    /// The whole document, from which parts are copied to other positions.
    pub whole: Value,
}

impl Mutate<Value> for Tree {
    fn mutate(&mut self, candidates: &mut Candidates, value: &mut Value) -> Result<()> {
        if let Value::Number(_) = value {
            candidates.mutation(|context| {
                *value = number(context, value);
                Ok(())
            })?;
        }
        candidates.mutation(|context| {
            // A part of the same kind is more often valid.
            let mut parts = Vec::new();
            collect(&self.whole, &mut parts);
            let alike =
                |part: &&Value| std::mem::discriminant(*part) == std::mem::discriminant(value);
            if context.rng().gen_u8() < 200 {
                parts.retain(alike);
            }
            let part = context
                .rng()
                .choose(&parts)
                .map_or(Value::Null, |part| (**part).clone());
            *value = part;
            Ok(())
        })?;
        match value {
            Value::Array(list) => {
                if !list.is_empty() {
                    candidates.mutation(|context| {
                        let [one, other] =
                            [(); 2].map(|()| context.rng().gen_index(list.len()).unwrap_or(0));
                        match context.rng().gen_u8() % 4 {
                            0 => drop(list.remove(one)),
                            1 => list.swap(one, other),
                            2 => list.truncate(one),
                            _ => list.insert(one, list[other].clone()),
                        }
                        Ok(())
                    })?;
                }
                list.iter_mut()
                    .try_for_each(|value| self.mutate(candidates, value))
            }
            Value::Object(fields) => fields
                .values_mut()
                .try_for_each(|value| self.mutate(candidates, value)),
            _ => Ok(()),
        }
    }
}

fn collect<'v>(value: &'v Value, parts: &mut Vec<&'v Value>) {
    parts.push(value);
    match value {
        Value::Array(list) => list.iter().for_each(|value| collect(value, parts)),
        Value::Object(fields) => fields.values().for_each(|value| collect(value, parts)),
        _ => (),
    }
}

/// Returns a number near the old one, a number near the limits of integers, or one that no game would have.
fn number(context: &mut Context, old: &Value) -> Value {
    let small = u64::from(context.rng().gen_u8()) % 20;
    if let Some(old) = old.as_u64() {
        let choices = [
            small,
            old.wrapping_add(1),
            old.wrapping_sub(1),
            old ^ (1 << (small * 3)),
            u64::from(u32::MAX) - small % 2,
            u64::MAX - small % 2,
            1 << 24,
        ];
        return context.rng().choose(&choices).copied().unwrap_or(0).into();
    }
    let any = f64::from(f32::from_bits(context.rng().gen_u32()));
    let old = old.as_f64().unwrap_or(0.0);
    let choices = [
        any,
        0.0,
        -old,
        old * 1e3,
        1e-38,
        1e-7,
        1e20,
        f64::from(f32::MAX),
        -1.0,
        small as f64,
    ];
    let choice = context.rng().choose(&choices).copied().unwrap_or(0.0);
    Number::from_f64(choice).map_or(Value::Null, Value::Number)
}
