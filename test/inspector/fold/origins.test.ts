import { describe, expect, it } from 'vitest';
import { markedParts, originsOf, originText } from '../../../inspector/fold/origins.ts';
import { replyValue } from '../../../src/chain/journal/phase-finding.ts';
import { createPassageIndex } from '../../../src/documents/passage-index.ts';
import { folded, recordedEntries } from '../../support/inspector/inspected-runs.ts';
import { startScripted } from '../../support/run-chain.ts';

const text = 'The bridge was opened on 19 March 1932.';
const documents = createPassageIndex([
  { path: 'bridge.md', blocks: [{ text, heading: [], startLine: 4, endLine: 4, kind: 'prose', lines: [4] }] },
]);
const { run } = startScripted({}, { documents }, { request: 'When was the brídge opened?' });
await run.answer;
const { log, fold } = folded(recordedEntries(run));
const found = (phrase: string) => originsOf(log, fold, phrase).map(({ kind, place }) => `${kind}: ${place}`);

describe('the origins of a phrase', () => {
  it('begin with the passage that has it, and name its lines', () => {
    const [first, ...later] = originsOf(log, fold, '19 March 1932');
    expect(first).toMatchObject({ kind: 'passage', place: 'bridge.md:4' });
    expect(first?.excerpt).toContain('19 March 1932');
    expect(log.entry(first?.seq ?? -1).type).toBe('activity-event');
    expect(later.every(({ seq }) => seq >= (first?.seq ?? 0))).toBe(true);
  });

  it('claim no source: only where the words are first mentioned', () => {
    expect(originText(originsOf(log, fold, 'bridge opened'))).toMatch(/^Found in \d+ texts?\. First in the request\./u);
    const [passage] = originsOf(log, fold, '19 March 1932');
    const other = { ...(passage as NonNullable<typeof passage>), place: 'other.md:1' };
    expect(originText([other, ...originsOf(log, fold, '19 March 1932')])).toContain('2 passages contain these words');
    expect(originText([])).toBe('No text of the run contains these words.');
  });

  it('name every reply with its call and its cycle, and the call that wrote what is only in the answer', () => {
    const { attempts } = fold.spans;
    const draft = attempts.findIndex(({ task }) => task === 'yield');
    const entry = log.entry(attempts[draft]?.reply ?? 0);
    const reply = entry.type === 'activity-event' ? replyValue(entry) : null;
    const { answer = '' } = Object(reply) as { readonly answer?: string };
    expect(found(answer)).toContain(`reply: Call ${draft + 1} · Yield, cycle 1 (draft)`);
    const written = log.entry(fold.entries.of('answer')[0] ?? 0);
    const text = written.type === 'answer' ? written.answer.answerText : '';
    const only = originsOf(log, fold, text).filter(({ kind }) => kind === 'answer');
    const writer = attempts.findIndex(({ task }) => task === 'synthesis') + 1;
    expect(originText(only)).toBe(`In no passage, tool result or earlier reply: the model wrote it in call ${writer}.`);
  });

  it('ignore case, accents and punctuation', () => {
    expect(found('the, BRIDGE')).toEqual(expect.arrayContaining(['passage: bridge.md:4', 'request: the user']));
  });

  it('fall back to texts with all of the words', () => {
    expect(found('1932 bridge')).toEqual(['passage: bridge.md:4']);
  });

  it('are highlighted in their texts: the phrase, otherwise its words', () => {
    const marked = (content: string, phrase: string) =>
      markedParts(content, phrase)
        .map(({ text: part, isMatch }) => (isMatch ? `[${part}]` : part))
        .join('');
    expect(marked('The brídge: the bridge  was opened.', 'BRIDGE was')).toBe('The brídge: the [bridge  was] opened.');
    expect(marked(text, '1932 brídge')).toBe('The [bridge] was opened on 19 March [1932].');
    expect(marked(text, '')).toBe(text);
  });

  it('are none for words that the run never had, or for none', () => {
    expect(found('harbour tunnel')).toEqual([]);
    expect(found(' … ')).toEqual([]);
  });
});
