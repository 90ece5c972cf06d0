import { PendingCommands } from '../pending-commands';
import type { CommandEvent, RunCommand, RunEvent } from '../source';

const START: RunEvent = { kind: 'start', time: 0, version: 2 };

function answer(
  id: string,
  command: RunCommand,
  more: Partial<CommandEvent> = {}
): CommandEvent {
  return {
    kind: 'command',
    time: 1,
    id,
    command,
    step: 3,
    status: 'done',
    ...more
  };
}

function pendingCommands(): PendingCommands {
  const commands = new PendingCommands();
  commands.apply(START);
  return commands;
}

describe('Acknowledging', () => {
  it('waits for the answer with the same identity, whatever else happens', () => {
    const commands = pendingCommands();
    const id = commands.sent('pause');
    commands.apply({ kind: 'status', time: 1, status: 'paused' });
    commands.apply(answer('of another page', 'pause'));
    expect(commands.pending).toEqual(['pause']);
    commands.apply(answer(id, 'pause'));
    expect(commands.pending).toEqual([]);
  });

  it('gives every command its own identity', () => {
    const commands = pendingCommands();
    const ids = [
      commands.sent('pause'),
      commands.sent('checkpoint'),
      commands.sent('learning_rate', 0.1),
      commands.sent('learning_rate', 0.2)
    ];
    expect(new Set(ids).size).toBe(4);
  });

  it('sends what was not answered with the identity it had, and no other', () => {
    const commands = pendingCommands();
    const id = commands.sent('learning_rate', 0.1);
    expect(commands.failed('learning_rate', 'no answer')).toBe(true);
    expect(commands.pending).toEqual([]);
    expect(commands.sent('learning_rate', 0.1)).toBe(id);
    commands.apply(answer(id, 'learning_rate'));
    expect(commands.sent('learning_rate', 0.1)).not.toBe(id);
  });

  it('takes an answer that comes late', () => {
    const commands = pendingCommands();
    const id = commands.sent('checkpoint');
    commands.failed('checkpoint', 'no answer');
    commands.apply(answer(id, 'checkpoint'));
    expect(commands.trouble).toBeNull();
    expect(commands.sent('checkpoint')).not.toBe(id);
  });

  it('says why a command was refused', () => {
    const commands = pendingCommands();
    const id = commands.sent('branch', { epochs: 1 });
    const message = '3 of 1 epochs are done';
    commands.apply(answer(id, 'branch', { status: 'refused', message }));
    expect(commands.pending).toEqual([]);
    expect(commands.trouble).toBe(message);
    commands.sent('pause');
    expect(commands.trouble).toBeNull();
  });

  it('waits for nothing once the run has ended', () => {
    const commands = pendingCommands();
    commands.sent('pause');
    commands.sent('branch');
    commands.apply({ kind: 'end', time: 1, status: 'finished' });
    expect(commands.pending).toEqual([]);
  });

  it('has identities on pages that were not loaded safely', () => {
    const { crypto } = globalThis;
    Object.defineProperty(globalThis, 'crypto', {
      value: undefined,
      configurable: true
    });
    const ids = Array.from({ length: 100 }, () =>
      pendingCommands().sent('pause')
    );
    Object.defineProperty(globalThis, 'crypto', {
      value: crypto,
      configurable: true
    });
    expect(new Set(ids).size).toBe(100);
    expect(ids.every(id => /^[0-9a-f-]{16,64}$/.test(id))).toBe(true);
  });
});
