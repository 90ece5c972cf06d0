// Keys of the editor's commands, as the settings of JupyterLab have them.

import type { CommandRegistry } from '@lumino/commands';

import type { HostShortcuts } from '../../editor';

/** A snapshot: `keyBindingChanged` of the registry says when to take a new one. */
export function labShortcuts(commands: CommandRegistry): HostShortcuts {
  const keys = new Map<string, string[]>();
  for (const binding of commands.keyBindings) {
    const shortcuts = keys.get(binding.command) ?? [];
    keys.set(binding.command, [...shortcuts, binding.keys.join(', ')]);
  }
  return { keysOf: command => keys.get(`labdl:${command}`) ?? [] };
}
