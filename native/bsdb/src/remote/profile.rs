//! Profiles of the AWS tools: the files `~/.aws/credentials` and `~/.aws/config`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The settings of each section, by its name. Those below a setting without a value are called `SETTING.NAME`.
type Sections = BTreeMap<String, BTreeMap<String, String>>;

/// The two files, with their paths.
#[derive(Debug)]
pub(crate) struct Files {
    credentials: (PathBuf, Sections),
    config: (PathBuf, Sections),
}

/// What a profile says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) keys: Option<Keys>,
    /// What its credentials need, if they are no keys.
    pub(crate) needs: Option<&'static str>,
    pub(crate) region: Option<String>,
    pub(crate) endpoint: Option<String>,
}

/// Keys of a profile.
#[derive(PartialEq, Eq)]
pub(crate) struct Keys {
    pub(crate) id: String,
    pub(crate) secret: String,
    pub(crate) token: Option<String>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

impl Files {
    /// Reads the files that the environment names. A file need not exist.
    pub(crate) fn read(variable: impl Fn(&str) -> Option<OsString>, home: Option<PathBuf>) -> Result<Files> {
        let read = |name: &str, file: &str, prefixed: bool| {
            let path = match variable(name).filter(|path| !path.is_empty()) {
                Some(given) => expanded(PathBuf::from(given), home.as_deref()),
                None => home.clone().unwrap_or_default().join(".aws").join(file),
            };
            match fs::read(&path) {
                Ok(bytes) => Ok((path, parse(&String::from_utf8_lossy(&bytes), prefixed))),
                Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    Ok((path, Sections::new()))
                }
                Err(e) => Err(Error::io(&path, e)),
            }
        };
        Ok(Files {
            credentials: read("AWS_SHARED_CREDENTIALS_FILE", "credentials", false)?,
            config: read("AWS_CONFIG_FILE", "config", true)?,
        })
    }

    /// A profile; None if neither file has it.
    pub(crate) fn profile(&self, name: &str) -> Option<Profile> {
        let none = BTreeMap::new();
        let (credentials, config) = (self.credentials.1.get(name), self.config.1.get(name));
        if credentials.is_none() && config.is_none() {
            return None;
        }
        let (credentials, config) = (credentials.unwrap_or(&none), config.unwrap_or(&none));
        let value = |setting: &str| config.get(setting).or_else(|| credentials.get(setting)).cloned();
        let has = |settings: &[&str]| settings.iter().any(|setting| value(setting).is_some());
        // The order of the AWS tools.
        let (keys, needs) = if has(&["role_arn"]) {
            (None, Some("a role (role_arn)"))
        } else if has(&["sso_session", "sso_account_id", "sso_role_name", "sso_start_url"]) {
            (None, Some("a single sign-on (sso_...)"))
        } else if let Some(keys) = keys(credentials) {
            (Some(keys), None)
        } else if has(&["login_session"]) {
            (None, Some("a login (login_session)"))
        } else if has(&["credential_process"]) {
            (None, Some("a program (credential_process)"))
        } else if let Some(keys) = keys(config) {
            (Some(keys), None)
        } else {
            let half = has(&["aws_access_key_id", "aws_secret_access_key"]);
            (None, half.then_some("both aws_access_key_id and aws_secret_access_key in one file"))
        };
        let services = value("services").and_then(|name| self.config.1.get(&format!("services {name}")));
        let endpoint = services.and_then(|services| services.get("s3.endpoint_url").cloned());
        Some(Profile { keys, needs, region: value("region"), endpoint: endpoint.or_else(|| value("endpoint_url")) })
    }

    /// A text for messages.
    pub(crate) fn paths(&self) -> String {
        format!("{} or {}", self.credentials.0.display(), self.config.0.display())
    }
}

/// How the keys of a profile can be had that this crate cannot find itself.
pub(crate) fn exported(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_./@+".contains(c));
    let shown = if plain { name.to_owned() } else { format!("'{}'", name.replace('\'', r"'\''")) };
    format!("eval \"$(aws configure export-credentials --profile {shown} --format env)\"")
}

fn keys(settings: &BTreeMap<String, String>) -> Option<Keys> {
    Some(Keys {
        id: settings.get("aws_access_key_id")?.clone(),
        secret: settings.get("aws_secret_access_key")?.clone(),
        token: settings.get("aws_session_token").or_else(|| settings.get("aws_security_token")).cloned(),
    })
}

/// A path whose `~` is the home directory.
fn expanded(path: PathBuf, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    }
}

/// Parses a file. Sections of profiles other than `default` begin with `profile` if they are `prefixed`; others are kept
/// by the whole of their names.
fn parse(text: &str, prefixed: bool) -> Sections {
    let mut sections = Sections::new();
    let mut section: Option<String> = None;
    let mut parent = None;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let inner = line.trim();
        if inner.is_empty() || inner.starts_with(['#', ';']) {
            continue;
        }
        if let Some((name, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            section = named(name, prefixed);
            parent = None;
            if let Some(name) = &section {
                sections.entry(name.clone()).or_default();
            }
            continue;
        }
        let (Some(name), Some((setting, value))) = (&section, inner.split_once('=')) else { continue };
        let Some(settings) = sections.get_mut(name) else { continue };
        let (setting, value) = (setting.trim().to_ascii_lowercase(), without_comment(value).trim());
        match &parent {
            Some(parent) if line.starts_with([' ', '\t']) => {
                settings.insert(format!("{parent}.{setting}"), value.to_owned());
            }
            _ => {
                parent = value.is_empty().then(|| setting.clone());
                if !value.is_empty() {
                    settings.insert(setting, value.to_owned());
                }
            }
        }
    }
    sections
}

/// The name of a section: that of a profile, or all of it.
fn named(header: &str, prefixed: bool) -> Option<String> {
    let words = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    let header = header.trim();
    if !prefixed {
        return Some(words(header));
    }
    match header.split_once([' ', '\t']) {
        Some(("profile", name)) => Some(words(name)),
        Some((kind, name)) => Some(format!("{kind} {}", words(name))),
        // Other profiles must say what they are.
        None => (header == "default").then(|| header.to_owned()),
    }
}

/// A value before a blank and a comment.
fn without_comment(value: &str) -> &str {
    let ends = [" #", " ;", "\t#", "\t;"].iter().filter_map(|mark| value.find(mark)).min();
    &value[..ends.unwrap_or(value.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(credentials: &str, config: &str) -> Files {
        Files {
            credentials: ("/c/credentials".into(), parse(credentials, false)),
            config: ("/c/config".into(), parse(config, true)),
        }
    }

    fn keys(id: &str, token: Option<&str>) -> Option<Keys> {
        Some(Keys { id: id.into(), secret: format!("{id}/+="), token: token.map(str::to_owned) })
    }

    #[test]
    fn finds_the_keys_of_a_profile() {
        let files = files(
            "\u{feff}# mine\n[default] ; first\naws_access_key_id = A\nAWS_SECRET_ACCESS_KEY=A/+= # comment\n\n\
             [my work]\r\naws_access_key_id=B\r\naws_secret_access_key = B/+=\r\naws_session_token = t==\r\n",
            "[default]\nregion = eu-west-1\ns3 =\n  region = none\n  endpoint_url = https://none\noutput = json\n\
             [profile \"my work\"]\nregion=us-east-2\nendpoint_url = http://store:9000\naws_access_key_id = C\n\
             [profile late]\naws_access_key_id = D\naws_secret_access_key = D/+=\nservices = mine\n\
             [services mine]\ns3 =\n  endpoint_url = http://s3\ndynamodb =\n  endpoint_url = http://no\n\
             [work]\nregion = no\n",
        );
        let default = files.profile("default").unwrap();
        let region = Some("eu-west-1".to_owned());
        assert_eq!(default, Profile { keys: keys("A", None), region, ..Profile::default() });
        let work = files.profile("my work").unwrap();
        assert_eq!((work.keys, work.region.as_deref()), (keys("B", Some("t==")), Some("us-east-2")));
        assert_eq!(work.endpoint.as_deref(), Some("http://store:9000"));
        let late = files.profile("late").unwrap();
        assert_eq!((late.keys, late.endpoint.as_deref(), late.region), (keys("D", None), Some("http://s3"), None));
        assert_eq!(files.profile("work"), None);
        assert_eq!(files.paths(), "/c/credentials or /c/config");
    }

    #[test]
    fn says_what_other_credentials_need() {
        for (config, needs) in [
            ("role_arn = arn\nsource_profile = default\naws_access_key_id=A\naws_secret_access_key=B", "role_arn"),
            ("sso_session = s\nsso_account_id = 1", "single sign-on"),
            ("credential_process = /bin/keys", "credential_process"),
            ("login_session = x", "login"),
            ("aws_access_key_id = A", "both"),
        ] {
            let profile = files("", &format!("[profile p]\n{config}")).profile("p").unwrap();
            assert!(profile.keys.is_none() && profile.needs.unwrap().contains(needs), "{profile:?}");
        }
        // Keys in the first file come before a program in the second.
        let first = "[p]\naws_access_key_id=A\naws_secret_access_key=A/+=";
        assert_eq!(files(first, "[profile p]\ncredential_process = x").profile("p").unwrap().keys, keys("A", None));
        assert_eq!(files("", "[profile p]\nregion = x").profile("p").unwrap().needs, None);
    }

    #[test]
    fn survives_what_is_no_profile() {
        for text in
            ["", "x", "= =", "[", "]", "[]", "[profile]", "[profile ]\n=\n = x", "a = b\n[default\nc = d", "\0\n[\0]"]
        {
            for prefixed in [false, true] {
                parse(text, prefixed);
            }
        }
        assert_eq!(exported("a-b"), "eval \"$(aws configure export-credentials --profile a-b --format env)\"");
        assert!(exported("a b'").contains(r"--profile 'a b'\''' --"));
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    fn the_environment_names_the_files() {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().to_owned();
        fs::create_dir(home.join(".aws")).unwrap();
        fs::write(home.join(".aws/config"), "[default]\nregion = home").unwrap();
        fs::write(home.join("other"), "[profile default]\nregion = other").unwrap();
        let region = |given: Option<&str>| {
            let variable = |name: &str| given.filter(|_| name == "AWS_CONFIG_FILE").map(OsString::from);
            let files = Files::read(variable, Some(home.clone())).unwrap();
            files.profile("default").and_then(|profile| profile.region)
        };
        assert_eq!(region(None).as_deref(), Some("home"));
        assert_eq!(region(Some("~/other")).as_deref(), Some("other"));
        assert_eq!(region(Some("~/none")), None);
        assert!(Files::read(|_| None, None).unwrap().profile("default").is_none());
        fs::remove_file(home.join(".aws/config")).unwrap();
        fs::create_dir(home.join(".aws/config")).unwrap();
        assert!(Files::read(|_| None, Some(home)).is_err());
    }
}
