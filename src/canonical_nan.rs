//! A serializer that writes every NaN as the same bits. The sign and payload of a NaN differ between processors, and
//! even between two builds for one processor.

use std::fmt::Display;

use serde::{Serialize, Serializer, ser};

/// Wraps a serializer, a part of one, or a value that it writes.
pub(crate) struct CanonicalNan<T>(pub T);

impl<T: Serialize + ?Sized> Serialize for CanonicalNan<&T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(CanonicalNan(serializer))
    }
}

/// Defines methods that pass plain values through.
macro_rules! pass_on {
    ($($method:ident($($name:ident: $type:ty),*))*) => {$(
        fn $method(self $(, $name: $type)*) -> Result<S::Ok, S::Error> {
            self.0.$method($($name),*)
        }
    )*};
}

/// Defines methods that begin a value with several parts.
macro_rules! begin {
    ($($method:ident($($name:ident: $type:ty),*) -> $compound:ident)*) => {$(
        fn $method(self, $($name: $type),*) -> Result<Self::$compound, S::Error> {
            self.0.$method($($name),*).map(CanonicalNan)
        }
    )*};
}

impl<S: Serializer> Serializer for CanonicalNan<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = CanonicalNan<S::SerializeSeq>;
    type SerializeTuple = CanonicalNan<S::SerializeTuple>;
    type SerializeTupleStruct = CanonicalNan<S::SerializeTupleStruct>;
    type SerializeTupleVariant = CanonicalNan<S::SerializeTupleVariant>;
    type SerializeMap = CanonicalNan<S::SerializeMap>;
    type SerializeStruct = CanonicalNan<S::SerializeStruct>;
    type SerializeStructVariant = CanonicalNan<S::SerializeStructVariant>;

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        let value = if value.is_nan() { f32::NAN } else { value };
        self.0.serialize_f32(value)
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        let value = if value.is_nan() { f64::NAN } else { value };
        self.0.serialize_f64(value)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&CanonicalNan(value))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let value = &CanonicalNan(value);
        self.0.serialize_newtype_struct(name, value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let value = &CanonicalNan(value);
        self.0
            .serialize_newtype_variant(name, index, variant, value)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }

    pass_on! {
        serialize_bool(value: bool)
        serialize_i8(value: i8)
        serialize_i16(value: i16)
        serialize_i32(value: i32)
        serialize_i64(value: i64)
        serialize_i128(value: i128)
        serialize_u8(value: u8)
        serialize_u16(value: u16)
        serialize_u32(value: u32)
        serialize_u64(value: u64)
        serialize_u128(value: u128)
        serialize_char(value: char)
        serialize_str(value: &str)
        serialize_bytes(value: &[u8])
        serialize_none()
        serialize_unit()
        serialize_unit_struct(name: &'static str)
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str)
    }

    begin! {
        serialize_seq(len: Option<usize>) -> SerializeSeq
        serialize_tuple(len: usize) -> SerializeTuple
        serialize_tuple_struct(name: &'static str, len: usize) -> SerializeTupleStruct
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, len: usize) -> SerializeTupleVariant
        serialize_map(len: Option<usize>) -> SerializeMap
        serialize_struct(name: &'static str, len: usize) -> SerializeStruct
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, len: usize) -> SerializeStructVariant
    }
}

/// Defines the methods that write the parts of a value with several parts.
macro_rules! parts {
    ($($compound:ident: $($method:ident($($name:ident: $type:ty)?))*;)*) => {$(
        impl<S: ser::$compound> ser::$compound for CanonicalNan<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            $(fn $method<T: Serialize + ?Sized>(&mut self, $($name: $type,)? value: &T) -> Result<(), S::Error> {
                self.0.$method($($name,)? &CanonicalNan(value))
            })*

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        }
    )*};
}

parts! {
    SerializeSeq: serialize_element();
    SerializeTuple: serialize_element();
    SerializeTupleStruct: serialize_field();
    SerializeTupleVariant: serialize_field();
    SerializeMap: serialize_key() serialize_value();
    SerializeStruct: serialize_field(key: &'static str);
    SerializeStructVariant: serialize_field(key: &'static str);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Serialize)]
    struct Pair(f32, f64);

    #[derive(Serialize)]
    struct Newtype(f32);

    #[derive(Serialize)]
    enum Kind {
        Unit,
        Newtype(f32),
        Tuple(u8, f64),
        Struct { x: f32 },
    }

    #[derive(Serialize)]
    struct All {
        name: &'static str,
        plain: (bool, u8, i16, u32, i64, u128, char),
        none: Option<f32>,
        some: Option<f32>,
        list: Vec<Pair>,
        array: [f32; 2],
        newtype: Newtype,
        map: BTreeMap<u8, f64>,
        kinds: [Kind; 4],
    }

    fn all(x: f32, y: f64) -> All {
        All {
            name: "a name",
            plain: (true, 1, -2, 3, -4, 5, 'x'),
            none: None,
            some: Some(x),
            list: vec![Pair(x, y), Pair(1.0, -0.0)],
            array: [x, 2.0],
            newtype: Newtype(x),
            map: BTreeMap::from([(7, y)]),
            kinds: [
                Kind::Unit,
                Kind::Newtype(x),
                Kind::Tuple(2, y),
                Kind::Struct { x },
            ],
        }
    }

    fn bytes(value: &impl Serialize) -> Vec<u8> {
        postcard::to_stdvec(value).expect("plain data can be serialised")
    }

    #[test]
    fn all_nans_serialise_alike_and_other_values_are_unchanged() {
        let canonical = bytes(&all(f32::NAN, f64::NAN));
        let others = [
            all(-f32::NAN, -f64::NAN),
            all(
                f32::from_bits(0xffc1_2345),
                f64::from_bits(0x7ff0_0000_0000_0001),
            ),
        ];
        for other in &others {
            assert_ne!(bytes(other), canonical);
            assert_eq!(bytes(&CanonicalNan(other)), canonical);
        }
        let finite = all(-0.0, f64::INFINITY);
        assert_eq!(bytes(&CanonicalNan(&finite)), bytes(&finite));
    }
}
