"""Examples of each command, for the help and the man page; a test parses each one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

EXAMPLES: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "": (
        ("agentmux demo", "watch the offline agent carry out a feature"),
        ('agentmux start "Add a login page"', "start a feature in this project"),
        ("agentmux", "see what runs, and what needs you"),
        ("agentmux resume", "go on after a crash or a reboot"),
    ),
    "start": (
        ('agentmux start "Add a login page"', "with the configured agents"),
        ("agentmux start @feature.md --agent codex", "the text of a file; codex plays every role"),
        ('agentmux start "Fix the typo" --quick', "a small change: one coder, no plan"),
        (
            'agentmux start "Add dark mode" --role coder=codex --worktree',
            "codex writes the code, in a worktree of its own",
        ),
    ),
    "attach": (
        ("agentmux attach", "the live session of this project"),
        ("agentmux attach add-login", "one of several, by the start of its name"),
    ),
    "answer": (
        ("agentmux answer", "see the question, and say which keys to press"),
        ("agentmux answer --role coder-1 Enter --screen 8f1b2c9d3e4a5b60", "as `show` prints it"),
        (
            "agentmux answer add-login --role coder-1 Down Enter --screen 8f1b2c9d3e4a5b60",
            "the second choice",
        ),
    ),
    "tell": (
        ('agentmux tell --role planner "Keep it to one part."', "it reads it after its work"),
        ("agentmux tell add-login --role coder-1 @note.md", "the text of a file"),
    ),
    "approve": (
        ("agentmux approve", "show what will be committed, and ask"),
        ("agentmux approve add-login --pr", "open a pull request with the result"),
    ),
    "request-changes": (
        ('agentmux request-changes "The button is too small" --from fixing', "one coder fixes it"),
        ("agentmux request-changes @review.md -s add-login", "the text of a file"),
    ),
    "try": (
        ("agentmux try add-login", "its files in your own checkout"),
        ("agentmux try --off", "what was checked out before"),
    ),
    "list": (
        ("agentmux list", "the newest fifty"),
        ("agentmux list --all --json", "all of them, for a script"),
    ),
    "status": (
        ("agentmux status", "the only session, or the one you are in"),
        ("agentmux status add-login --json", "for a script"),
    ),
    "show": (
        ("agentmux show add-login", "the last screen of each agent"),
        ("agentmux show add-login --role coder-1", "of one agent"),
    ),
    "diff": (
        ("agentmux diff --stat", "the changed files"),
        ("agentmux diff add-login --since planning", "what changed after this phase"),
        ("agentmux diff add-login -- src", "below this folder"),
    ),
    "web": (
        ("agentmux web --open", "in the browser of this machine"),
        (
            "agentmux web --listen 127.0.0.1:8765 --behind-proxy --host box.example.org",
            "behind a proxy that does TLS, for a phone",
        ),
    ),
    "fleet": (
        ("agentmux fleet", "what waits, runs and has ended"),
        ("agentmux fleet init", "set it up, for this host alone"),
    ),
    "fleet init": (
        ("agentmux fleet init", "a file of SQLite, for this host alone"),
        ("agentmux fleet init --url-file ~/fleet-url", "a database that several hosts share"),
    ),
    "fleet worker": (
        ("agentmux fleet worker --slots 4", "four features at once"),
        ("agentmux fleet worker --systemd", "a unit, so that it runs after a reboot"),
    ),
    "fleet submit": (
        ('agentmux fleet submit "Add a login page" --key login', "in this project"),
        ("agentmux fleet submit --issue 42 --repo https://github.com/o/r.git", "in a clone"),
        ("agentmux fleet submit --from backlog.yaml", "all of a backlog, each once"),
    ),
    "fleet list": (
        ("agentmux fleet list", "every feature and host"),
        ("agentmux fleet list --stale", "hosts that are gone, and what waits for them"),
    ),
    "fleet show": (("agentmux fleet show 3f2a", "by the start of its id"),),
    "fleet approve": (
        ("agentmux fleet approve login", "show what will be committed, and ask"),
        ("agentmux fleet approve login --pr --yes", "open a pull request; ask nothing"),
    ),
    "fleet request-changes": (
        ('agentmux fleet request-changes login "Use orjson" --from fixing', "one coder fixes it"),
    ),
    "fleet attach": (("agentmux fleet attach login", "also through ssh"),),
    "fleet retry": (
        ("agentmux fleet retry login", "resume it on its host"),
        ("agentmux fleet retry login --abandon", "its host is gone: begin again elsewhere"),
    ),
    "fleet cancel": (("agentmux fleet cancel login", "stop its session"),),
    "fleet drain": (("agentmux fleet drain big-box", "before an upgrade"),),
    "logs": (
        ("agentmux logs -f", "keep showing new lines"),
        ("agentmux logs add-login -n 200", "the last 200 lines"),
    ),
    "wait": (
        ("agentmux wait add-login", "until it is done"),
        ("agentmux wait add-login --for decision --timeout 3600", "until you have to decide"),
    ),
    "resume": (
        ("agentmux resume", "choose one, or take the only one"),
        ("agentmux resume add-login --dry-run", "what would happen; changes nothing"),
        ("agentmux resume add-login --fresh-role coder-1", "this agent begins a new conversation"),
        ("agentmux resume --all", "every unfinished session, after a reboot"),
    ),
    "stop": (("agentmux stop add-login", "end its agents; resume goes on later"),),
    "restart": (
        ("agentmux restart --role coder-1", "an agent that has ended or hangs"),
        ("agentmux restart add-login --role coder-1 --fresh", "with a new conversation"),
    ),
    "unpark": (("agentmux unpark add-login", "its usage limit is over"),),
    "rewind": (
        ("agentmux rewind add-login --to planning --dry-run", "what would go; changes nothing"),
        ("agentmux rewind add-login --to planning", "the files as they were after this phase"),
    ),
    "export": (
        ("agentmux export add-login ~/add-login.agentmux", "to go on elsewhere, and not here"),
        ("agentmux export add-login ~/copy.agentmux --copy", "to go on here, too"),
    ),
    "import": (
        ("agentmux import ~/add-login.agentmux", "in another clone; then: agentmux resume"),
        ("agentmux import ~/add-login.agentmux --copy", "as another session, to try two ways"),
    ),
    "remove": (
        ("agentmux remove add-login", "a session that is done, with its worktree"),
        ("agentmux remove add-login --force", "also work that is nowhere else"),
    ),
    "prune": (("agentmux prune --dry-run", "what would be removed; changes nothing"),),
    "doctor": (
        ("agentmux doctor", "what is wrong here, and how to fix it"),
        ("agentmux doctor --fix", "delete what killed commands have left, after a question"),
    ),
    "init": (
        ("agentmux init", "ask, and write .agentmux/config.yaml"),
        ("agentmux init --defaults", "ask nothing"),
    ),
    "config": (
        ("agentmux config", "every setting that is in effect"),
        ("agentmux config show --origin", "with the file and line that each comes from"),
    ),
    "config show": (("agentmux config show --origin", "with the file and line of each value"),),
    "config schema": (
        (
            "agentmux config schema > .agentmux/config.schema.json",
            "for an editor that checks while you type",
        ),
    ),
    "config path": (("agentmux config path", "the files that are read, if they exist"),),
    "trust": (
        ("agentmux trust --show", "what the project's files would run"),
        ("agentmux trust", "show it, and ask"),
    ),
    "notify": (
        ("agentmux notify", "where you are told that a session needs you"),
        ("agentmux notify --test", "send one message there, and see whether it arrives"),
    ),
    "agents": (
        ("agentmux agents", "what is installed here"),
        ("agentmux agents show claude", "its command lines"),
    ),
    "agents show": (("agentmux agents show codex", "its command lines, with your settings"),),
    "agents probe": (("agentmux agents probe claude", "ask the installed program again"),),
    "pipelines": (
        ("agentmux pipelines", "those that a start can take"),
        ("agentmux pipelines show quick", "draw one"),
    ),
    "pipelines show": (
        ("agentmux pipelines show feature", "draw it, and check it"),
        ("agentmux pipelines show feature --yaml", "its file, to make your own of it"),
    ),
    "completion": (
        ("agentmux completion bash --install", "write it where bash looks for it"),
        ("agentmux completion zsh", "print the script"),
    ),
    "demo": (
        ("agentmux demo", "a minute; changes nothing of yours"),
        ("agentmux demo --auto", "without you, with a proof that nothing was lost"),
        ("agentmux demo --keep", "keep the project, to look around in it"),
        ("agentmux demo --fleet", "a backlog on two workers, one of which is killed"),
    ),
    "help": (
        ("agentmux help start", "the same as agentmux start --help"),
        ("agentmux help agents show", "of a subcommand"),
    ),
    "version": (("agentmux version", "the same as agentmux --version"),),
}
"""Command lines with their descriptions, by command; the program itself has the key ``""``."""
