import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { replay } from '../../../src/chain/journal/replay.ts';
import { stateHistory } from '../../../src/chain/journal/state-at.ts';
import { exportRun } from '../../../src/inspection/export-run.ts';
import { fileJournals } from '../../../src/journal/file-journals.ts';
import { entriesOf, linesOf } from '../../../src/journal/journal-lines.ts';
import { replies } from '../../../src/testing/replies.ts';
import { defineCapability } from '../../../src/tools/capability.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { startScripted, workCall } from '../../support/run-chain.ts';

/** Returns the JSON text of entries as version 1 of the format wrote them. */
function asVersion1(entries: readonly JournalEntry[]): readonly JournalEntry[] {
  const named = (text: string, later: string, earlier: string): string =>
    text.replaceAll(`"${later}":`, `"${earlier}":`);
  return entries.map((entry) => {
    let text = JSON.stringify(entry.type === 'run-start' ? { ...entry, version: 1 } : entry);
    if (entry.type === 'run-start') text = named(named(text, 'keyframes', 'states'), 'summarize', 'summarise');
    if (entry.type === 'call-start' || entry.type === 'call-event') text = named(text, 'actor', 'port');
    if (entry.type === 'call-event') text = text.replace('"event":{"type":"done"', '"event":{"type":"settled"');
    if (entry.type === 'transition') text = named(text, 'result', 'verdict');
    if (entry.type === 'context-evaluated') text = named(text, 'summarized', 'summarised');
    return JSON.parse(text) as JournalEntry;
  });
}

describe('a journal of version 1', () => {
  it('is listed, read and exported like others, but its state is unknown and it is not replayed', async () => {
    const { run } = startScripted();
    const { answerText } = await run.answer;
    const folder = temporaryFolder();
    writeFileSync(join(folder, `${run.runId}.jsonl`), linesOf(asVersion1(run.journal)));
    const journals = fileJournals(folder);
    expect(await journals.list()).toMatchObject([{ runId: run.runId, status: 'completed' }]);
    const entries = await entriesOf(journals.read(run.runId));
    const [start, ...others] = JSON.parse(JSON.stringify(run.journal));
    expect(entries).toEqual([{ ...start, version: 1 }, ...others]);
    expect(stateHistory(entries)).toEqual({ states: [], problem: expect.stringContaining('its state is unknown') });
    expect((await exportRun(entries)).html).toContain(answerText);
    expect(() => replay(entries)).toThrow(/version 1 of the format, which can be shown but not replayed/u);
  });
});

/** Returns entries as they were written before replies contained lists of calls. */
function withSingleCalls(entries: readonly JournalEntry[]): readonly JournalEntry[] {
  return entries.map((entry) => {
    if (entry.type === 'capability-start') return { ...entry, id: undefined } as never;
    if (entry.type === 'continuation') return { ...entry, next: entry.next[0] ?? null } as never;
    if (entry.type !== 'call-event') return entry;
    if (entry.actor === 'validateArguments' && entry.event.type === 'done')
      return { ...entry, event: { ...entry.event, output: (entry.event.output as unknown[])[0] } };
    if (entry.event.type !== 'reply.ended') return entry;
    const { reply } = entry.event;
    const { calls, ...others } = Object(reply.value);
    if (calls === undefined) return entry;
    return { ...entry, event: { ...entry.event, reply: { ...reply, value: { ...others, call: calls[0] ?? null } } } };
  });
}

describe('a journal from before replies contained lists of calls', () => {
  it('is read with lists', async () => {
    const action = { ...replies.action, calls: [workCall] };
    const name = workCall.capability;
    const work = defineCapability({ name, description: 'Works.', arguments: z.object({}), execute: () => 'done' });
    const { run } = startScripted({ action }, { capabilities: [work] });
    await run.answer;
    expect(run.journal.filter(({ type }) => type === 'capability-start')).toHaveLength(1);
    const folder = temporaryFolder();
    writeFileSync(join(folder, `${run.runId}.jsonl`), linesOf(withSingleCalls(run.journal)));
    const entries = await entriesOf(fileJournals(folder).read(run.runId));
    const expected = JSON.parse(JSON.stringify(run.journal));
    for (const entry of expected) if (entry.type === 'capability-start') delete entry.id;
    expect(entries).toEqual(expected);
  });
});
