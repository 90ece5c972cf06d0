// Mock of a widget's model: records what is sent and saved, and simulates the kernel.
import type { AnyModel } from '@anywidget/types';

type Handler = (...args: unknown[]) => void;

export class TestModel {
  sent: unknown[] = [];
  saved: Record<string, unknown>[] = [];
  handlers = new Map<string, Set<Handler>>();

  constructor(public state: Record<string, unknown> = {}) {}

  /** The mock with the type that widgets expect. */
  get model(): AnyModel {
    return this as unknown as AnyModel;
  }

  get(key: string): unknown {
    return this.state[key];
  }

  set(key: string, value: unknown): void {
    this.state = { ...this.state, [key]: value };
    this.emit(`change:${key}`);
  }

  save_changes(): void {
    this.saved.push(this.state);
  }

  send(content: unknown): void {
    this.sent.push(content);
  }

  on(name: string, handler: Handler): void {
    this.handlers.set(
      name,
      (this.handlers.get(name) ?? new Set()).add(handler)
    );
  }

  off(name: string, handler: Handler): void {
    this.handlers.get(name)?.delete(handler);
  }

  emit(name: string, ...args: unknown[]): void {
    [...(this.handlers.get(name) ?? [])].forEach(handler => handler(...args));
  }

  get listening(): number {
    return [...this.handlers.values()].reduce(
      (sum, handlers) => sum + handlers.size,
      0
    );
  }
}
