"""``./dev test-real``: install the agent CLIs, then run the tests of this folder without a network.

The tests run in a network namespace that has only loopback, so that agents can reach only the
model server of the tests. If something is missing on the machine, it is the reason of the skips.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.real.clis import CLIS, Cli
from tests.real.debian_gh import fetched_gh

ROOT: Final = Path(__file__).resolve().parents[2]
CACHE_VARIABLE: Final = "AGENTMUX_REAL_CACHE"
FOUND_VARIABLE: Final = "AGENTMUX_REAL_FOUND"
"""Set inside the namespace: JSON with each CLI's program, or the reason why it is missing."""

NEEDS_NAMESPACE: Final = "network namespaces are not to be had here (`unshare --net` fails)"
NODE_MAJOR: Final = 22
"""Enough for every CLI; it is downloaded if the machine has an older Node."""

_INSTALL_S: Final = 900
_NPM: Final = ("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")


def main(words: Sequence[str]) -> None:
    """Install the CLIs, then run pytest inside the namespace with the arguments ``words``."""
    parser = argparse.ArgumentParser(
        prog="./dev test-real",
        usage="%(prog)s [--install-only | --record [AGENT[/SCREEN]...] | ARGS of pytest...]",
        description="Run the real agent CLIs, without a network, against a model server of ours.",
        epilog="docs/how-to/test-real-agents.md says what it shows, and how screens are recorded.",
        allow_abbrev=False,
    )
    parser.add_argument("--install-only", action="store_true", help="only fetch the programs")
    known, rest = parser.parse_known_args(words)
    cache = Path(os.environ.get(CACHE_VARIABLE) or ROOT / ".cache" / "real-agents").resolve()
    prefix = namespace()
    if prefix is None and not known.install_only:  # before anything large is fetched
        found = {name: {"missing": NEEDS_NAMESPACE} for name in CLIS}
    else:
        found = {**install(cache), "gh": fetched_gh(cache)}
    for name, each in found.items():
        print(f"{name}: {each.get('program') or each['missing']}", file=sys.stderr)
    if known.install_only:
        return
    argv = [*(prefix or ()), sys.executable, "-m", "tests.real.inside", *rest]
    os.environ[FOUND_VARIABLE] = json.dumps(found)
    os.execvp(argv[0], argv)


def namespace() -> tuple[str, ...] | None:
    """Return the argv prefix that runs a command without a network; None if none works here.

    A user other than root needs a user namespace as well, in which they are root.
    """
    ways = (("unshare", "--net"), ("unshare", "--map-root-user", "--net"))
    for way in ways[:1] if os.geteuid() == 0 else ways[1:]:
        try:
            done = subprocess.run((*way, "true"), capture_output=True, check=False, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return way
    return None


# -- installing ----------------------------------------------------------------------------------


def install(cache: Path) -> dict[str, dict[str, str]]:
    """Install the CLIs; return ``program`` and ``version`` of each, or ``missing``: why not."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        return {name: {"missing": "npm and node are not on PATH"} for name in CLIS}
    cache.mkdir(parents=True, exist_ok=True)
    node = _node(cache)
    return {
        name: _found_on_pypi(cache, name, cli) if cli.on_python else _found(cache, name, cli, node)
        for name, cli in CLIS.items()
    }


def _platform() -> str:
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"{sys.platform}-{machine}"


def _node(cache: Path) -> str:
    """Return a Node that runs all CLIs, or the machine's own if that cannot be downloaded."""
    own = shutil.which("node") or "node"
    said = subprocess.run((own, "--version"), capture_output=True, text=True, check=False).stdout
    major = re.match(r"v(\d+)", said)
    if major and int(major[1]) >= NODE_MAJOR:
        return own
    package = f"node-{_platform()}"
    _install(cache / "node", f"{package}@{NODE_MAJOR}")
    home = cache / "node" / "node_modules" / package
    fetched = home / "bin" / "node"
    if not fetched.exists():
        return own
    npm = home / "lib" / "node_modules" / "npm"  # npm's usual place, where qwen looks for it
    if not npm.exists():
        npm.parent.mkdir(parents=True, exist_ok=True)
        npm.symlink_to(Path(shutil.which("npm") or "npm").resolve().parents[1])
    return str(fetched)


def _found(cache: Path, name: str, cli: Cli, node: str) -> dict[str, str]:
    folder = cache / name
    wanted = "latest" if os.environ.get("AGENTMUX_REAL_LATEST") else cli.version
    problem = _install(folder, f"{cli.package}@{wanted}")
    modules = folder / "node_modules"
    programs = sorted(modules.glob(cli.program.format(platform=_platform())))
    if not programs:
        return {"missing": problem or f"{cli.package} has no program for {_platform()}"}
    version = json.loads((modules / cli.package / "package.json").read_text())["version"]
    program = folder / "bin" / name
    _link(program, programs[0], node if cli.on_node else None)
    return {"program": str(program), "version": version}


def _found_on_pypi(cache: Path, name: str, cli: Cli) -> dict[str, str]:
    folder = cache / name
    latest = os.environ.get("AGENTMUX_REAL_LATEST")
    venv = folder / "venv"
    if not (venv / "bin" / "python").exists():
        subprocess.run((sys.executable, "-m", "venv", str(venv)), check=True)
    pip = (str(venv / "bin" / "python"), "-m", "pip", "install", "-q", "-U")
    wanted = f"{cli.package}@latest" if latest else f"{cli.package}=={cli.version}"
    problem = _install(folder, wanted, (*pip, wanted.removesuffix("@latest")))
    program = venv / cli.program
    if not program.exists():
        return {"missing": problem or f"{cli.package} has no program {cli.program}"}
    _link(folder / "bin" / name, program, None)
    (known,) = venv.glob(f"lib/*/site-packages/{cli.package.replace('-', '_')}-*.dist-info")
    return {"program": str(folder / "bin" / name), "version": known.stem.partition("-")[2]}


def _install(folder: Path, package: str, argv: Sequence[str] = ()) -> str:
    """Install a package unless this version is there; return the error, or an empty text.

    Install scripts of npm do not run; they are not needed, because binaries are separate packages.

    Args:
        argv: What installs it, if it is not npm.
    """
    done = folder / "installed"
    if not package.endswith("@latest") and done.exists() and done.read_text() == package:
        return ""
    print(f"installing {package} into {folder}", file=sys.stderr)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        made = subprocess.run(
            argv or (*_NPM, "--prefix", str(folder), package),
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=_INSTALL_S,
        )
    except subprocess.TimeoutExpired:
        return f"{package} was not installed within {_INSTALL_S} s"
    if made.returncode != 0:
        said = [line for line in made.stderr.splitlines() if line.strip()] or ["no word"]
        return f"{package} could not be installed: {said[0]}"
    done.write_text(package)
    return ""


def _link(program: Path, target: Path, node: str | None) -> None:
    """Make ``program``, which has the CLI's usual name, start ``target``."""
    program.parent.mkdir(exist_ok=True)
    program.unlink(missing_ok=True)
    if node is None:
        target.chmod(target.stat().st_mode | 0o111)
        program.symlink_to(target)
        return
    program.write_text(f'#!/bin/sh\nexec "{node}" "{target}" "$@"\n')
    program.chmod(0o755)


def found_here(environ: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return what `main` found; empty outside the namespace, when pytest runs without `main`."""
    found: dict[str, dict[str, str]] = json.loads(environ.get(FOUND_VARIABLE, "{}"))
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
