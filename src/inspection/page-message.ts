import { z } from 'zod';
import { jsonOf } from '../journal/journal-line.ts';
import type { PageMessage } from './wire.ts';

const MAX_ID_CHARS = 4_096;

const runId = z.string().max(MAX_ID_CHARS);
const id = z.int().min(0);

const pageMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('open'), runId, from: z.int().min(0) }),
  z.object({ type: z.literal('close'), runId }),
  z.object({ type: z.literal('send'), id, runId, event: z.unknown() }),
  z.object({ type: z.literal('test'), id, runId }),
]) satisfies z.ZodType<PageMessage>;

/** Null for what no page says. */
export function readPageMessage(text: string): PageMessage | null {
  const read = pageMessageSchema.safeParse(jsonOf(text));
  return read.success ? read.data : null;
}
