"""Forward hooks: functions that observe or replace the inputs and outputs of a module."""

from __future__ import annotations

from collections.abc import Callable

from labdl.spec import Spec


class Hooks:
    """Replaces the forward of a module while hooks are registered."""

    def __init__(self, module):
        self.module, self.before, self.after = module, {}, {}
        self.former = module.__dict__.get("forward")  # such as one with a user-defined backward function
        self.forward = module.forward

    @classmethod
    def of(cls, module) -> Hooks:
        found = module.__dict__.get("forward")
        return found if isinstance(found, cls) else cls(module)

    def add(self, hook: Callable, before: bool) -> Callable[[], None]:
        hooks, key = (self.before if before else self.after), object()
        hooks[key] = hook
        self.module.__dict__["forward"] = self

        def remove() -> None:
            hooks.pop(key, None)
            if not self.before and not self.after and self.module.__dict__.get("forward") is self:
                set_forward(self.module, self.former)

        return remove

    def replace_forward(self, forward: Callable) -> None:
        """Observe another forward from now on, which stays when the hooks are gone."""
        self.former = self.forward = forward

    def __call__(self, *inputs, **options):
        if any(isinstance(v, Spec) for v in inputs):  # shape inference has no values for hooks
            return self.forward(*inputs, **options)
        for hook in list(self.before.values()):
            changed = hook(self.module, inputs)
            if changed is not None:
                inputs = changed if isinstance(changed, tuple) else (changed,)
        outputs = self.forward(*inputs, **options)
        for hook in list(self.after.values()):
            changed = hook(self.module, inputs, outputs)
            outputs = outputs if changed is None else changed
        return outputs


def set_forward(module, forward: Callable | None) -> None:
    """Give the module a forward of its own, or, with None, that of its class."""
    if forward is None:
        module.__dict__.pop("forward", None)
    else:
        module.__dict__["forward"] = forward
