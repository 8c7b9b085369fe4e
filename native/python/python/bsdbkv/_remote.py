"""Databases that are elsewhere: what names them, and the options of their stores."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Optional
from urllib.parse import urlsplit

__all__ = ["prepare"]

_SCHEMES = {
    "s3": "s3",
    "s3a": "s3",
    "s3n": "s3",
    "gs": "gs",
    "gcs": "gs",
    "az": "az",
    "azure": "az",
    "abfs": "az",
    "abfss": "az",
    "http": "http",
    "https": "http",
}

# Options of s3fs, gcsfs and adlfs, and the settings that they are.
_NAMED = {
    "s3": {
        "key": "aws_access_key_id",
        "secret": "aws_secret_access_key",
        "token": "aws_session_token",
        "anon": "aws_skip_signature",
        "endpoint_url": "aws_endpoint",
        "profile": "aws_profile",
        "requester_pays": "aws_request_payer",
    },
    "gs": {
        "endpoint_url": "google_base_url",
    },
    "az": {
        "account_name": "azure_storage_account_name",
        "account_key": "azure_storage_account_key",
        "sas_token": "azure_storage_sas_key",
        "tenant_id": "azure_storage_tenant_id",
        "client_id": "azure_storage_client_id",
        "client_secret": "azure_storage_client_secret",
        "anon": "azure_skip_signature",
        "endpoint_url": "azure_endpoint",
    },
    "http": {},
}

# Those that are more than one setting, or none.
_SPECIAL = {"s3": ("client_kwargs",), "gs": ("token", "project"), "az": ("connection_string",), "http": ()}

# Options that begin so are settings of the store themselves.
_PREFIX = {"s3": "aws_", "gs": "google_", "az": "azure_"}

# Settings of connections.
_CONNECTIONS = ("allow_http", "allow_invalid_certificates", "proxy_url", "proxy_ca_certificate", "proxy_excludes")

_CLIENT = {"region_name": "aws_region", "endpoint_url": "aws_endpoint"}

_ACCOUNT = {
    "AccountName": "azure_storage_account_name",
    "AccountKey": "azure_storage_account_key",
    "SharedAccessSignature": "azure_storage_sas_key",
    "BlobEndpoint": "azure_endpoint",
}

# What a pickle carries; all other options may be secrets.
_PUBLIC = {
    "account_name",
    "allow_http",
    "allow_invalid_certificates",
    "anon",
    "aws_allow_http",
    "aws_default_region",
    "aws_endpoint",
    "aws_endpoint_url",
    "aws_profile",
    "aws_region",
    "aws_request_payer",
    "aws_skip_signature",
    "aws_virtual_hosted_style_request",
    "azure_allow_http",
    "azure_endpoint",
    "azure_skip_signature",
    "azure_storage_account_name",
    "azure_storage_endpoint",
    "azure_storage_use_emulator",
    "client_kwargs",
    "endpoint_url",
    "google_base_url",
    "google_skip_signature",
    "profile",
    "project",
    "proxy_excludes",
    "requester_pays",
}

Settings = list[tuple[str, str]]


def prepare(path: Any, options: Optional[Mapping[str, Any]]) -> tuple[Any, Settings, dict[str, Any]]:
    """What to open, the settings of its store, and those of the options that a pickle may carry.

    A path is a local one, a URL, or a UPath, whose own options hold for what the given ones do not name.
    """
    own_names = ("protocol", "path", "storage_options")
    if not isinstance(path, (str, bytes)) and all(hasattr(path, name) for name in own_names):
        path, own = _url_of(path)
        options = {**own, **(options or {})}
    text = os.fsdecode(path) if isinstance(path, (str, bytes)) else ""
    scheme, mark, _ = text.partition("://")
    if "::" in scheme and mark:
        raise ValueError(
            f"{scheme.rsplit('::', 1)[0]}:: before a URL is not supported; give the URL alone, "
            f"which begins with {scheme.rsplit('::', 1)[1]}://"
        )
    kind = _SCHEMES.get(scheme.lower()) if mark and not os.path.exists(text) else None
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"storage_options must be a mapping, such as a dict, not {type(options).__name__}")
    if not options:
        return path, [], {}
    if kind is None:
        raise ValueError("storage_options are for URLs such as s3://bucket/rdb; leave them out of local paths")
    return path, list(_settings(kind, options).items()), _public(options)


def _url_of(path: Any) -> tuple[Any, Mapping[str, Any]]:
    """What a UPath names, and its options."""
    protocol, inner = path.protocol, str(path.path)
    if protocol in ("", "file", "local"):
        return inner, {}
    return (inner if "://" in inner else f"{protocol}://{inner}"), dict(path.storage_options)


def _settings(kind: str, options: Mapping[str, Any]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for name, value in options.items():
        if value is None:
            continue
        setting = _NAMED[kind].get(name)
        if setting is not None:
            settings[setting] = _text(name, value)
        elif name in _SPECIAL[kind]:
            settings.update(_special(name, value))
        elif isinstance(name, str) and (name in _CONNECTIONS or (kind in _PREFIX and name.startswith(_PREFIX[kind]))):
            settings[name] = _text(name, value)
        else:
            raise _unknown(name, kind)
    for setting in ("aws_endpoint", "google_base_url", "azure_endpoint"):
        endpoint = settings.get(setting)
        if endpoint is None:
            continue
        parts = urlsplit(endpoint)
        if parts.username is not None or parts.query:
            raise ValueError("the URL of an endpoint must not have a user, a password or a query")
        if parts.scheme == "http":
            settings.setdefault("allow_http", "true")
    return settings


def _special(name: str, value: Any) -> dict[str, str]:
    if name == "client_kwargs":
        unknown = [one for one in value if one not in _CLIENT]
        if unknown:
            raise ValueError(f"client_kwargs: unknown option {unknown[0]!r}; known are {', '.join(sorted(_CLIENT))}")
        return {_CLIENT[one]: _text(f"client_kwargs[{one!r}]", given) for one, given in value.items() if given}
    if name == "token":
        return _google(value)
    if name == "connection_string":
        parts = dict(part.partition("=")[::2] for part in str(value).split(";") if part)
        return {setting: parts[part] for part, setting in _ACCOUNT.items() if part in parts}
    return {}  # The project of Google pays for writing and listing; reading needs none.


def _google(token: Any) -> dict[str, str]:
    """The settings for the option token of gcsfs."""
    if isinstance(token, Mapping):
        return {"google_service_account_key": json.dumps(dict(token))}
    if token == "anon":
        return {"google_skip_signature": "true"}
    if token in ("google_default", "cloud"):
        return {}  # The credentials of the environment or of the machine, as without the option.
    if isinstance(token, (str, os.PathLike)) and os.path.isfile(token):
        return {"google_application_credentials": os.fspath(token)}
    raise ValueError(
        "token must be 'anon', 'google_default', 'cloud', the path of a file of JSON, or its content as a dict"
    )


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int)):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    raise TypeError(f"storage_options: {name} must be a text or a bool, not {type(value).__name__}")


def _unknown(name: Any, kind: str) -> ValueError:
    known = ", ".join(sorted([*_NAMED[kind], *_SPECIAL[kind], *_CONNECTIONS]))
    more = f", and settings that begin with {_PREFIX[kind]}" if kind in _PREFIX else ""
    return ValueError(f"storage_options: unknown option {name!r}; known are {known}{more}")


def _public(options: Mapping[str, Any]) -> dict[str, Any]:
    public = {name: value for name, value in options.items() if name in _PUBLIC and value is not None}
    if options.get("token") in ("anon", "google_default", "cloud"):
        public["token"] = options["token"]
    return public
