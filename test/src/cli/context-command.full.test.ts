import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { messageSchema } from '../../../machines/contracts/message.ts';
import { applyOperations, contextOf } from '../../../machines/policies/context.ts';
import { contextHistory } from '../../../src/chain/journal/context-history.ts';
import { type ContextFlags, contextCommand } from '../../../src/cli/context-command.ts';
import { linesOf } from '../../../src/journal/journal-lines.ts';
import { cli } from '../../support/cli.ts';
import { fileWith, journalFile, LONG_HISTORY, runOverHistory } from '../../support/journal-files.ts';
import { startScripted } from '../../support/run-chain.ts';

const { journal } = await runOverHistory();
const document = contextHistory(journal);
const idOf = (target: string, operation: string): string =>
  document.operations.find((one) => one.target === target && one.operation === operation)?.id ?? '';
const SUMMARIZED = idOf('earlier.h1', 'TRANSFORM');
const REMOVED = idOf('earlier.h3', 'PRUNE');
const lastStep = journal.filter((entry) => entry.type === 'operations').at(-1)?.step ?? 0;

const plain = (columns?: number) =>
  ({ isTTY: columns !== undefined, columns }) as unknown as NodeJS.WriteStream & { fd: 1 };
const command = (flags: ContextFlags = {}, entries: readonly JournalEntry[] = journal, columns?: number) =>
  contextCommand(journalFile(entries), flags, plain(columns));

async function json(flags: ContextFlags) {
  return JSON.parse(await command({ ...flags, json: true }));
}

describe('postchain context', () => {
  it('[U12][U13] lists every operation with its target, size and reason, under the step and phase that made it', async () => {
    const lines = (await command()).split('\n');
    expect(lines[0]).toBe('Is the cellar damp?');
    expect(lines[1]).toMatch(/^5 messages, 4,\d{3} characters → \d+ messages, [\d,]+ characters by \d+ operations$/);
    for (const { id, operation, reason } of document.operations)
      expect(
        lines.filter((line) => new RegExp(`^  ${id} +${operation} .*  `).test(line) && line.endsWith(reason)),
      ).toHaveLength(1);
    const heading = (id: string) =>
      lines
        .slice(
          0,
          lines.findIndex((line) => line.startsWith(`  ${id} `)),
        )
        .findLast((line) => line.startsWith('Step'));
    expect(heading(SUMMARIZED)).toMatch(/^Step \d+: understanding$/);
    expect(heading(document.operations[0]?.id ?? '')).toBe('Step 1: action');
    expect(lines.find((line) => line.startsWith(`  ${SUMMARIZED} `))).toMatch(/ 1,629 → \d{2,3} {2}/);
    expect(lines.find((line) => line.startsWith(`  ${REMOVED} `))).toMatch(/ -1,628 {2}/);
  });

  it('cuts lines to the width of a terminal, and only there', async () => {
    const narrow = (await command({}, journal, 50)).split('\n').slice(2);
    expect(Math.max(...narrow.map(({ length }) => length))).toBe(49);
    expect(narrow.some((line) => line.endsWith('…'))).toBe(true);
    expect(await command()).not.toContain('…');
  });

  it('[U12] with --undo, shows what is restored, changed, or removed, and the sizes before and after', async () => {
    const added = document.operations.find((one) => one.operation === 'ADD')?.target ?? '';
    const text = await command({ undo: [SUMMARIZED, REMOVED, idOf(added, 'ADD')] });
    expect(text).toMatch(
      new RegExp(`^Undoing\n  ${SUMMARIZED}  TRANSFORM  earlier\\.h1: .*\n  ${REMOVED}  PRUNE  earlier\\.h3: `),
    );
    expect(text).toMatch(
      /\n {2}changed {2}earlier\.h1 \(\d+ → 1,629 characters, tags summary → none\) {2}"Please look into the cellar\./,
    );
    expect(text).toMatch(/\n {2}back {5}earlier\.h3 {2}"Please look into the attic\./);
    if (contextOf(document).some(({ id }) => id === added)) expect(text).toContain(`\n  gone     ${added}  "`);
    const [before, after] = text.trimEnd().split('\n').at(-1)?.split(' → ') ?? [];
    const chars = (size = '') => Number(/, ([\d,]+) characters$/.exec(size)?.[1]?.replaceAll(',', ''));
    expect(chars(before)).toBe(contextOf(document).reduce((sum, { content }) => sum + content.length, 0));
    expect(chars(after)).toBeGreaterThan(chars(before) + 1_628);
  });

  it('[U12] undoing any one operation gives the messages that the others produce', async () => {
    for (const { id } of document.operations) {
      const { undone, messages, changes } = await json({ undo: [id] });
      const expected = applyOperations(
        document.initial,
        document.operations.filter((operation) => operation.id !== id),
      );
      expect(undone).toEqual([id]);
      expect(messages).toEqual(expected);
      const differing = new Set(changes.map(({ messageId }: { messageId: string }) => messageId));
      for (const message of contextOf(document))
        expect(differing.has(message.id)).toBe(
          JSON.stringify(message) !== JSON.stringify(expected.find((one) => one.id === message.id)),
        );
    }
  });

  it('with --json, prints operations, messages, undone operations, and changes', async () => {
    const { operations, messages, undone, changes } = await json({ undo: [REMOVED, REMOVED] });
    expect(operations.map(({ id }: { id: string }) => id)).toEqual(document.operations.map(({ id }) => id));
    expect(operations.find(({ id }: { id: string }) => id === REMOVED)).toMatchObject({
      operation: 'PRUNE',
      phase: 'understanding',
      target: 'earlier.h3',
      before: 1628,
      after: null,
      reason: expect.any(String),
    });
    expect(operations.every(({ step }: { step: number }) => step < lastStep)).toBe(true);
    expect(() => messages.map((message: unknown) => messageSchema.parse(message))).not.toThrow();
    expect(undone).toEqual([REMOVED]);
    expect(changes).toMatchObject([
      { messageId: 'earlier.h3', change: 'back', before: null, after: { content: LONG_HISTORY[2]?.content } },
    ]);
    expect(await json({})).toMatchObject({ undone: [], changes: [] });
  });

  it('reports that undoing has no effect', async () => {
    const id = idOf('earlier.h3', 'PRUNE');
    const tagged = {
      ...document.operations[0],
      operation: 'TAG',
      id: 'x',
      target: 'earlier.h3',
      data: { tags: ['t'] },
    };
    const entries = journal.map((entry) =>
      entry.type === 'operations' && entry.applied.some((one) => one.id === id)
        ? { ...entry, applied: [tagged, ...entry.applied] }
        : entry,
    ) as JournalEntry[];
    expect(await command({ undo: ['x'] }, entries)).toContain('none: later operations replaced its effect');
  });

  it('prints no control characters from a journal', async () => {
    const evil = '\u001b[2J\u001b]0;x\u0007\u202e\n';
    const entries = JSON.parse(
      JSON.stringify(journal)
        .replaceAll('Please look', JSON.stringify(evil).slice(1, -1))
        .replaceAll('longer than', JSON.stringify(evil).slice(1, -1))
        .replaceAll('"earlier.h1"', JSON.stringify(`earlier${evil}`)),
    );
    for (const flags of [{}, { undo: [SUMMARIZED, REMOVED] }]) {
      const text = await command(flags, entries);
      for (const character of ['\u001b', '\u0007', '\u202e']) expect(text).not.toContain(character);
    }
  });

  it('reads a journal with a truncated last line', async () => {
    const text = linesOf(journal);
    const path = fileWith(text.slice(0, text.length - 30));
    expect(await contextCommand(path, {}, plain())).toBe(await command());
  });
});

describe('postchain context, with invalid arguments, prints one line and exits with 2', () => {
  const good = (): string => journalFile(journal);
  it.each([
    [() => ['no-such.jsonl'], /^postchain: no-such\.jsonl: ENOENT/],
    [() => ['docs'], /^postchain: docs: EISDIR/],
    [() => ['README.md'], /^postchain: README\.md: cannot read entry 0: not valid JSON; expected the journal of a run/],
    [() => [fileWith('')], /: the journal is empty; expected the journal of a run/],
    [
      () => [good(), '--undo', SUMMARIZED, 's99.o1'],
      /Unknown operation "s99\.o1"; list the operations with: postchain context \S+/,
    ],
    [() => [], /Missing run; put it before other arguments/],
    [() => ['--undo', 's1.o1', 'run.jsonl'], /Missing run; put it before other arguments/],
    [() => [good(), '--wat'], /unknown option '--wat'/],
  ])('%# %s', async (args, message) => {
    const { code, stdout, stderr } = await cli('context', ...args());
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('accepts --undo once or several times', async () => {
    const once = await cli('context', good(), '--undo', SUMMARIZED, REMOVED);
    const twice = await cli('context', good(), '--undo', SUMMARIZED, '--undo', REMOVED);
    expect(once).toMatchObject({ code: 0, stderr: '' });
    expect(once.stdout).toContain('Changes\n');
    expect(twice.stdout).toBe(once.stdout);
  });
});

describe('postchain context --json', () => {
  it('escapes control characters and marks of direction', async () => {
    const text = 'so\u001b[2J\u009b\u0085\u202e\u2066?';
    const { run } = startScripted({}, {}, { request: text });
    await run.answer;
    const printed = await contextCommand(journalFile(run.journal), { json: true });
    for (const character of text.replace(/[\w[?]/gu, '')) expect(printed).not.toContain(character);
    expect(JSON.parse(printed).messages[0].content).toBe(text);
  });
});
