//! The macro that declares a section, and the small ones that it is made of.

/// Declares a section: a struct with a field per key, and all that is known about each key.
///
/// The plain form declares what was written. Each key is `name: Type`, then as much as applies of
///
/// - `within RANGE`: the range, or what else limits the type ([`FileValue::Limit`](crate::declare::FileValue));
/// - `within RANGE, checked later`: reading takes any value, because what depends on other sections
///   narrows the range and then is what messages are to say;
/// - `required EXAMPLE`: it must be written, and the message shows this example;
/// - `needed CONDITION, EXAMPLE`: it must be written if this function of all keys is true;
/// - `default VALUE`: the field is a [`Filled`](crate::declare::Filled) and not a
///   [`Key`](crate::declare::Key);
/// - `derived FORMULA`: what holds if it is left out, in words, where no constant says it;
/// - `source CLAUSE`: where the default comes from;
/// - `when CONDITION`: a function of what was read so far; the key exists only if it is true;
/// - `written if_changed`: the resolved file leaves it out where it has its default.
///
/// A key whose name is a word of Rust is declared as `field as "name": Type`. Behind the name of the
/// struct may stand `, context FUNCTION,`: from what was read it makes what messages about unknown
/// keys say that the set of keys depends on, such as ` with kind = "host"`.
///
/// `field: Section, keys inline` stands for all keys of another section, as if they were declared
/// here; `keys inline except KEY KEY` for all but those.
///
/// `struct NAME given FIELD: TYPE = VALUE, {` adds a field that is no key: what conditions may ask
/// and whoever reads the section sets before, such as the kind of the section around it.
///
/// The second form, `struct NAME for CONFIG = DEFAULT`, declares the keys of a configuration that
/// exists already. A key fills the field of its name; `field OTHER` names another one, and
/// `get FUNCTION, set FUNCTION` is for what is no field by itself. Defaults are those of `DEFAULT`,
/// unless a key is `required`. It implements [`Fills`](crate::declare::Fills).
#[macro_export]
macro_rules! section {
    (
        $(#[doc = $about:literal])*
        $vis:vis struct $name:ident
            $(given $given:ident : $given_type:ty = $given_value:expr,)?
            $(, context $context:expr,)?
        {
            $(
                $(#[doc = $doc:literal])*
                $key:ident $(as $file_key:literal)? : $type:ty
                    $(, keys $inline:ident $(except $($except:ident)+)?)?
                    $(, within $limit:expr $(, checked $later:ident)?)?
                    $(, required $example:literal)?
                    $(, needed $needed:expr, $needed_example:literal)?
                    $(, default $default:expr)?
                    $(, derived $formula:literal)?
                    $(, source $source:literal)?
                    $(, when $when:expr)?
                    $(, written $brief:ident)?
                ;
            )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug)]
        $vis struct $name {
            /// The place at which the section begins.
            pub place: $crate::declare::Place,
            $(
                /// What is known before the section is read.
                pub $given: $given_type,
            )?
            $(
                $(#[doc = $doc])*
                pub $key: $crate::section!(@field [$($inline)?] $type $(, $default)?),
            )*
        }

        impl Default for $name {
            fn default() -> $name {
                $name {
                    place: Default::default(),
                    $($given: $given_value,)?
                    $($key: $crate::section!(@new [$($inline)?] $($default)?),)*
                }
            }
        }

        impl $crate::declare::Declared for $name {
            fn about() -> String {
                $crate::declare::about(&[$($about),*])
            }

            fn keys() -> Vec<$crate::declare::KeyInfo> {
                let default = $name::default();
                let _ = &default;
                let keys: Vec<Vec<$crate::declare::KeyInfo>> = vec![$($crate::section!(
                    @info [$($inline $($($except)+)?)?] $type,
                    $crate::declare::KeyInfo {
                        name: $crate::section!(@name $key $(, $file_key)?),
                        about: $crate::declare::about(&[$($doc),*]),
                        kind: <$type as $crate::declare::FileValue>::kind(
                            &$crate::section!(@limit $type $(, $limit)?)
                        ),
                        fallback: $crate::section!(
                            @fallback [$($when)?] [$($example)?] [$($formula)?] &default.$key
                        ),
                        source: concat!($($source)?),
                    }
                )),*];
                keys.concat()
            }

            fn read(section: &mut $crate::declare::Section<'_>) -> $name {
                let mut keys = $name::default();
                keys.fill(section);
                keys
            }

            fn fill(&mut self, section: &mut $crate::declare::Section<'_>) {
                self.place = section.place.clone();
                $(
                    if $crate::section!(@when &*self $(, $when)?) {
                        $crate::section!(
                            @read [$($inline $($($except)+)?)?] section, self.$key,
                            $crate::declare::read_key(
                                section,
                                $crate::section!(@name $key $(, $file_key)?),
                                &mut self.$key,
                                &$crate::section!(@checked [$($($later)?)?] $type $(, $limit)?),
                                $crate::section!(@some $($example)?),
                            )
                        );
                    }
                )*
                $($crate::section!(
                    @need section, self.$key, $crate::section!(@name $key $(, $file_key)?)
                    $(, $needed, $needed_example)?
                );)*
                $(section.set_context($crate::declare::context_of(&*self, $context));)?
            }

            fn absent(&self) -> Vec<&'static str> {
                let keys: Vec<(&'static str, bool)> = vec![$((
                    $crate::section!(@name $key $(, $file_key)?),
                    $crate::section!(@when self $(, $when)?),
                )),*];
                keys.into_iter().filter(|(_, is_there)| !is_there).map(|(key, _)| key).collect()
            }
        }

        impl $crate::declare::Overlay for $name {
            fn over(&self, base: &$name) -> $name {
                let _ = base;
                $name {
                    place: self.place.clone(),
                    $($given: self.$given.clone(),)?
                    $($key: $crate::section!(@over [$($inline)?] self.$key, base.$key),)*
                }
            }

            fn place_of(&self, key: &str) -> Option<&$crate::declare::Place> {
                let _ = key;
                $($crate::section!(
                    @place_of [$($inline)?] self.$key, key,
                    $crate::section!(@name $key $(, $file_key)?)
                );)*
                None
            }
        }

        impl $crate::declare::Written for $name {
            fn entries(&self) -> Vec<$crate::declare::Entry> {
                let mut entries = Vec::new();
                let _ = &mut entries;
                $(
                    if $crate::section!(@when self $(, $when)?)
                        && !$crate::section!(@hidden self, $name, $key $(, $brief)?)
                    {
                        entries.extend($crate::section!(
                            @entries [$($inline $($($except)+)?)?] self.$key,
                            $crate::section!(@name $key $(, $file_key)?)
                        ));
                    }
                )*
                entries
            }

            fn place(&self) -> Option<&$crate::declare::Place> {
                Some(&self.place)
            }
        }

        impl $crate::declare::FileValue for $name {
            type Limit = ();
            const IS_SECTION: bool = true;

            fn take(
                item: $crate::declare::Item<'_>,
                (): &(),
            ) -> Option<$crate::declare::At<$name>> {
                let place = item.place.clone();
                let mut section = item.table()?;
                let value = <$name as $crate::declare::Declared>::read(&mut section);
                section.finish();
                Some($crate::declare::At { value, place })
            }

            fn kind((): &()) -> $crate::declare::Kind {
                $crate::declare::Kind::Table(Box::new(
                    <$name as $crate::declare::Declared>::info(),
                ))
            }

            fn node(&self) -> $crate::declare::Node {
                $crate::declare::Node::Table($crate::declare::Written::entries(self))
            }
        }
    };

    (
        $(#[doc = $about:literal])*
        $vis:vis struct $name:ident for $config:ty = $base:expr, {
            $(
                $(#[doc = $doc:literal])*
                $key:ident $(as $file_key:literal)? : $type:ty
                    $(, within $limit:expr)?
                    $(, field $($field:ident).+)?
                    $(, get $get:expr, set $set:expr)?
                    $(, required $example:literal)?
                    $(, derived $formula:literal)?
                    $(, source $source:literal)?
                    $(, when $when:expr)?
                    $(, written $brief:ident)?
                ;
            )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, Default)]
        $vis struct $name {
            $(
                $(#[doc = $doc])*
                pub $key: $crate::declare::Key<$type>,
            )*
        }

        impl $name {
            /// The keys that say what `config` is.
            $vis fn of(config: &$config) -> $name {
                let base: &$config = &$base;
                let _ = base;
                let mut keys = $name::default();
                $(
                    let value: Option<$type> =
                        $crate::section!(@get config, $key $(, field $($field).+)? $(, get $get)?);
                    let usual: Option<$type> =
                        $crate::section!(@get base, $key $(, field $($field).+)? $(, get $get)?);
                    let is_shown = $crate::section!(@when &*config $(, $when)?)
                        && !$crate::section!(@brief value == usual $(, $brief)?);
                    if is_shown && let Some(value) = value {
                        keys.$key = $crate::declare::Key::of(value);
                    }
                )*
                keys
            }

            /// Takes the keys out of `section` and puts them into `config`.
            $vis fn fill(
                section: &mut $crate::declare::Section<'_>,
                config: &mut $config,
            ) -> $name {
                let mut keys = $name::default();
                $(
                    if $crate::section!(@when &*config $(, $when)?) {
                        $crate::declare::read_key(
                            section,
                            $crate::section!(@name $key $(, $file_key)?),
                            &mut keys.$key,
                            &$crate::section!(@limit $type $(, $limit)?),
                            $crate::section!(@some $($example)?),
                        );
                        if let Some(value) = keys.$key.get().cloned() {
                            $crate::section!(
                                @set config, value, $key $(, field $($field).+)? $(, set $set)?
                            );
                        }
                    }
                )*
                keys
            }

            /// What the keys are, with the defaults of the configuration.
            $vis fn info() -> $crate::declare::Info {
                let base: &$config = &$base;
                let _ = base;
                $crate::declare::Info {
                    about: $crate::declare::about(&[$($about),*]),
                    keys: vec![$($crate::declare::KeyInfo {
                        name: $crate::section!(@name $key $(, $file_key)?),
                        about: $crate::declare::about(&[$($doc),*]),
                        kind: <$type as $crate::declare::FileValue>::kind(
                            &$crate::section!(@limit $type $(, $limit)?)
                        ),
                        fallback: $crate::declare::fallback(
                            $crate::section!(@some $($example)?),
                            $crate::section!(@some $($formula)?),
                            &$crate::declare::Key {
                                given: None::<$type>.or(
                                    $crate::section!(
                                        @get base, $key $(, field $($field).+)? $(, get $get)?
                                    )
                                ).map(|value| $crate::declare::At {
                                    value,
                                    place: Default::default(),
                                }),
                                is_written: false,
                            },
                        ),
                        source: concat!($($source)?),
                    }),*],
                    variants: None,
                }
            }
        }

        impl $crate::declare::Written for $name {
            fn entries(&self) -> Vec<$crate::declare::Entry> {
                let entries = [$($crate::declare::Entry::of(
                    $crate::section!(@name $key $(, $file_key)?),
                    &self.$key,
                )),*];
                entries.into_iter().flatten().collect()
            }
        }

        impl $crate::declare::Fills for $name {
            type Config = $config;

            fn base() -> $config {
                $base
            }

            fn of(config: &$config) -> $name {
                $name::of(config)
            }

            fn fill(section: &mut $crate::declare::Section<'_>, config: &mut $config) -> $name {
                $name::fill(section, config)
            }

            fn info() -> $crate::declare::Info {
                $name::info()
            }

            fn is_complete(&self) -> bool {
                [$(self.$key.is_good($crate::section!(@some $($example)?))),*]
                    .into_iter()
                    .all(|is_good| is_good)
            }

            fn places(&self) -> Vec<(&'static str, $crate::declare::Place)> {
                let places = [$((
                    $crate::section!(@name $key $(, $file_key)?),
                    self.$key.place().cloned(),
                )),*];
                places.into_iter().filter_map(|(name, place)| Some((name, place?))).collect()
            }
        }
    };

    (@field [inline] $type:ty) => { $type };
    (@field [] $type:ty) => { $crate::declare::Key<$type> };
    (@field [] $type:ty, $default:expr) => { $crate::declare::Filled<$type> };
    (@new [inline]) => { Default::default() };
    (@new []) => { $crate::declare::Key::default() };
    (@new [] $default:expr) => { $crate::declare::Filled::new($default) };
    (@info [inline $($except:ident)*] $type:ty, $info:expr) => {
        $crate::declare::inline_keys::<$type>(&[$(stringify!($except)),*])
    };
    (@info [] $type:ty, $info:expr) => { vec![$info] };
    (@read [inline $($except:ident)*] $section:ident, $keys:ident.$key:ident, $read:expr) => {
        $keys.$key = $crate::declare::read_inline($section, &[$(stringify!($except)),*])
    };
    (@read [] $section:ident, $keys:ident.$key:ident, $read:expr) => { $read };
    (@need $section:ident, $keys:ident.$key:ident, $name:expr) => {};
    (@need $section:ident, $keys:ident.$key:ident, $name:expr, $when:expr, $example:expr) => {
        if $crate::declare::holds(&*$keys, $when) {
            $crate::declare::need($section, $name, &$keys.$key, $example);
        }
    };
    (@entries [inline $($except:ident)*] $self:ident.$key:ident, $name:expr) => {
        $crate::declare::entries_inline(&$self.$key, &[$(stringify!($except)),*])
    };
    (@entries [] $self:ident.$key:ident, $name:expr) => {
        $crate::declare::Entry::of($name, &$self.$key)
    };
    (@over [inline] $self:ident.$key:ident, $base:ident.$same:ident) => {
        $crate::declare::Overlay::over(&$self.$key, &$base.$same)
    };
    (@over [] $self:ident.$key:ident, $base:ident.$same:ident) => {
        $crate::declare::Field::over(&$self.$key, &$base.$same)
    };
    (@place_of [inline] $self:ident.$key:ident, $asked:ident, $name:expr) => {
        if let Some(place) = $crate::declare::Overlay::place_of(&$self.$key, $asked) {
            return Some(place);
        }
    };
    (@place_of [] $self:ident.$key:ident, $asked:ident, $name:expr) => {
        if $asked == $name {
            return $crate::declare::Field::place(&$self.$key);
        }
    };
    (@name $key:ident) => { stringify!($key) };
    (@name $key:ident, $file_key:literal) => { $file_key };
    (@limit $type:ty) => { <$type as $crate::declare::FileValue>::Limit::default() };
    (@limit $type:ty, $limit:expr) => {
        <<$type as $crate::declare::FileValue>::Limit>::from($limit)
    };
    (@checked [later] $type:ty, $limit:expr) => { $crate::section!(@limit $type) };
    (@checked [] $type:ty $(, $limit:expr)?) => { $crate::section!(@limit $type $(, $limit)?) };
    (@fallback [$when:expr] [$example:expr] [] $default:expr) => {
        // A key that is not always there is not always required.
        $crate::declare::fallback(None, Some("required"), $default)
    };
    (@fallback [$($when:expr)?] [$($example:expr)?] [$($formula:expr)?] $default:expr) => {
        $crate::declare::fallback(
            $crate::section!(@some $($example)?),
            $crate::section!(@some $($formula)?),
            $default,
        )
    };
    (@some) => { None };
    (@some $value:expr) => { Some($value) };
    (@when $keys:expr) => { true };
    (@when $keys:expr, $when:expr) => { $crate::declare::holds($keys, $when) };
    (@hidden $self:expr, $name:ident, $key:ident) => { false };
    (@hidden $self:expr, $name:ident, $key:ident, if_changed) => {
        $self.$key.value == $name::default().$key.value
    };
    (@brief $value:ident == $usual:ident) => { { let _ = $usual; false } };
    (@brief $value:ident == $usual:ident, if_changed) => { $value == $usual };
    (@get $config:expr, $key:ident) => { Some($config.$key.clone()) };
    (@get $config:expr, $key:ident, field $($field:ident).+) => {
        Some($config.$($field).+.clone())
    };
    (@get $config:expr, $key:ident, get $get:expr) => {
        $crate::declare::look($config, $get)
    };
    (@set $config:expr, $value:expr, $key:ident) => { $config.$key = $value };
    (@set $config:expr, $value:expr, $key:ident, field $($field:ident).+) => {
        $config.$($field).+ = $value
    };
    (@set $config:expr, $value:expr, $key:ident, set $set:expr) => {
        $crate::declare::put($config, $value, $set)
    };
}

/// Gives the words that stand for the values of a type.
///
/// ```ignore
/// words! { Finish { "target" => Finish::Target, "source" => Finish::Source } }
/// ```
#[macro_export]
macro_rules! words {
    ($type:ty { $($word:literal => $value:expr),+ $(,)? }) => {
        $crate::words!($type, [$(($word, $value)),+]);
    };
    ($type:ty, $list:expr) => {
        impl $crate::declare::Words for $type {
            fn words() -> Vec<(&'static str, $type)> {
                $list.to_vec()
            }
        }

        impl $crate::declare::FileValue for $type {
            type Limit = ();

            fn take(
                item: $crate::declare::Item<'_>,
                (): &(),
            ) -> Option<$crate::declare::At<$type>> {
                item.choice(&<$type as $crate::declare::Words>::words())
            }

            fn kind((): &()) -> $crate::declare::Kind {
                let words = <$type as $crate::declare::Words>::words();
                $crate::declare::Kind::Word(words.iter().map(|(word, _)| *word).collect())
            }

            fn show(&self) -> String {
                format!("{:?}", $crate::declare::Words::word(self))
            }
        }
    };
}

/// A type whose values have words in files; [`words!`](crate::words) implements it.
pub trait Words: Sized + PartialEq + 'static {
    /// Every value with its word.
    fn words() -> Vec<(&'static str, Self)>;

    /// The word for this value.
    fn word(&self) -> &'static str {
        let mut own = Self::words().into_iter().filter(|(_, value)| value == self);
        own.next().map_or("", |(word, _)| word)
    }
}
