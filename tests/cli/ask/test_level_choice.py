"""The menu of levels: how much an agent may do without asking."""

from agentmux.cli.ask.level_choice import PermissionLevel, menu_lines

ASK = PermissionLevel(name="ask", says="asks first")
EDITS = PermissionLevel(
    name="edits",
    says="edits files",
    args=(
        "--permission-mode",
        "acceptEdits",
        "--allowedTools=Bash(agentmux submit:*),mcp__agentmux",
    ),
)


def test_arguments_break_between_words_where_the_terminal_ends() -> None:
    assert menu_lines((ASK, EDITS), cols=60) == [
        "  1  ask    asks first",
        "  2  edits  edits files",
        "       with --permission-mode acceptEdits",
        "         '--allowedTools=Bash(agentmux",
        "         submit:*),mcp__agentmux'",
    ]


def test_without_a_terminal_no_line_breaks() -> None:
    *_, last = menu_lines((ASK, EDITS), cols=None)
    assert last.startswith("       with --permission-mode acceptEdits '--allowedTools=Bash(")
    assert last.endswith("mcp__agentmux'")
