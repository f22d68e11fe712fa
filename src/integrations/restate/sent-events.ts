import { TerminalError, type WorkflowSharedContext } from '@restatedev/restate-sdk';
import { z } from 'zod';
import { chainEventSchema } from '../../../machines/contracts/events.ts';
import { invalidOption } from '../../internal/options.ts';
import type { SentOutcome } from './host.ts';
import { terminal } from './terminal.ts';

const sentEventSchema = z.strictObject({ event: chainEventSchema, id: z.string().min(1).max(200).optional() });

/** An event for a run. Of two with one `id`, the run hears the first alone. */
export type SentEvent = z.input<typeof sentEventSchema>;

/** What became of it: the number of the event in its run, from 0; `repeated` where it had come before. */
export interface Sent {
  readonly number: number;
  readonly repeated: boolean;
}

/** The promise that the event of this number keeps: it can be kept once, so no event takes the place of another. */
export function promiseName(number: number): string {
  return `event-${number}`;
}

/** Puts the event behind those that were sent. Throws a terminal error of code 400 for what is none. */
export async function sendEvent(ctx: WorkflowSharedContext, given: SentEvent): Promise<Sent> {
  const read = sentEventSchema.safeParse(given);
  if (!read.success) throw terminal(invalidOption('The event', given, read.error, sentEventSchema));
  const { event, id = ctx.request().id } = read.data;
  const sent: SentOutcome = { type: 'sent', id, event, atMs: await ctx.date.now() };
  for (let number = 0; ; number += 1) {
    const promise = ctx.promise<SentOutcome>(promiseName(number));
    const taken = (await promise.peek()) ?? (await keep(promise, sent));
    if (taken === null) return { number, repeated: false };
    if (taken.id === id) return { number, repeated: true };
  }
}

/** Null where it was kept; the event that was faster, else. */
async function keep(
  promise: ReturnType<WorkflowSharedContext['promise']>,
  sent: SentOutcome,
): Promise<SentOutcome | null> {
  try {
    await promise.resolve(sent);
    return null;
  } catch (error) {
    const faster = error instanceof TerminalError ? ((await promise.peek()) as SentOutcome | undefined) : undefined;
    if (faster === undefined) throw error;
    return faster;
  }
}
