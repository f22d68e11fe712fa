import type { EventObject } from 'xstate';

/** What may come of an actor that a machine invokes: it is done, it fails, or it sends its parent an event and goes on. */
export type Outcome =
  | { readonly kind: 'done'; readonly name: string; readonly output: unknown }
  | { readonly kind: 'error'; readonly name: string; readonly error: unknown }
  | { readonly kind: 'emitted'; readonly name: string; readonly event: EventObject };

/** The actor ends with an output. The name is for who reads the path: "done", or what it comes to. */
export const done = (output?: unknown, name = 'done'): Outcome => ({ kind: 'done', name, output });

/** The actor fails. */
export const fails = (error: unknown = new Error('It failed, as scripted.'), name = 'error'): Outcome => ({
  kind: 'error',
  name,
  error,
});

/** The actor sends its parent an event, and goes on: a callback, or a child that uses `sendParent`. */
export const sends = <Event extends EventObject>(event: Event, name: string = event.type): Outcome => ({
  kind: 'emitted',
  name,
  event,
});
