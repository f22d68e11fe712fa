import type { InspectedRun } from '../../src/inspection/wire.ts';
import { shortly } from './text.ts';

/** A run in a list: what it was asked, how it stands, when it began, and its id as far as the terminal prints it. */
export function runName({ title, runId, status, startedAt }: InspectedRun): string {
  const id = shortly(runId.slice(0, 8), 8);
  return `${shortly(title, 60) || 'Untitled'} · ${status} · ${startedAt.slice(0, 19).replace('T', ' ')} · ${id}`;
}
