"""The findings of `agentmux doctor`: judgements on facts from adapters; changes nothing."""
