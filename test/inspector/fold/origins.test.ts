import { describe, expect, it } from 'vitest';
import { checkedSentences, markedParts, originsOf, originText } from '../../../inspector/fold/origins.ts';
import { replyValue } from '../../../src/chain/journal/phase-finding.ts';
import { createPassageIndex } from '../../../src/documents/passage-index.ts';
import { replies } from '../../../src/testing/replies.ts';
import { folded, recordedEntries } from '../../support/inspector/inspected-runs.ts';
import { capabilityNamed, repliesWith, startScripted } from '../../support/run-chain.ts';

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
    const words = `the model wrote it in call ${attempts.findIndex(({ task }) => task === 'synthesis') + 1}.`;
    expect(originText(only)).toBe(`Not in any passage, tool result or earlier reply: ${words}`);
  });

  it('ignore case, accents and punctuation', () => {
    expect(found('the, BRIDGE')).toEqual(expect.arrayContaining(['passage: bridge.md:4', 'request: the user']));
  });

  it('are the passages that support a paraphrase, with the score of the engine', () => {
    const [best] = originsOf(log, fold, 'In 1932, on March 19, it opened');
    expect(best).toMatchObject({ kind: 'passage', place: 'bridge.md:4' });
    expect(best?.support).toBeGreaterThan(0.9);
    expect(originText([best as NonNullable<typeof best>])).toMatch(
      /^No text of the run contains these words\. The best support is 0\.9\d, from bridge\.md:4\.$/u,
    );
  });

  it('are highlighted: the phrase itself, otherwise the sentence with most of its words', () => {
    const marked = (content: string, phrase: string) =>
      markedParts(content, phrase)
        .map(({ text: part, isMatch }) => (isMatch ? `[${part}]` : part))
        .join('');
    expect(marked('The brídge: the bridge  was opened.', 'BRIDGE was')).toBe('The brídge: the [bridge  was] opened.');
    const passage = `A bridge is long. ${text} It opened late.`;
    expect(marked(passage, '1932 brídge')).toBe(`A bridge is long. [${text}] It opened late.`);
    expect(marked(text, '')).toBe(text);
  });

  it('name the model call that wrote the answer also if it is the draft of Yield', async () => {
    const { run: drafted } = startScripted({}, { documents, profile: 'balanced' }, { request: 'When was it opened?' });
    const { metadata } = await drafted.answer;
    const { log, fold } = folded(recordedEntries(drafted));
    expect(metadata.synthesis.writtenBy).toBe('model');
    expect(fold.spans.attempts.some(({ task }) => task === 'synthesis')).toBe(false);
    const answer = log.entry(fold.entries.of('answer')[0] ?? 0);
    const written = answer.type === 'answer' ? originsOf(log, fold, answer.answer.answerText) : [];
    expect(written.find(({ kind }) => kind === 'answer')?.place).toMatch(/^call \d+$/u);
  });

  it('are none for words that the run never had, or for none', () => {
    expect(found('harbour tunnel')).toEqual([]);
    expect(found(' … ')).toEqual([]);
  });
});

describe('the sentences of an answer', () => {
  it('have the support that the engine computed, and the passages that give it', async () => {
    const answerText = 'It was opened in March 1932. The engineer Bradfield designed it.';
    const plan = repliesWith({ synthesis: { answerText } });
    const { run } = startScripted(plan, { documents }, { request: 'When was the bridge opened?' });
    const answer = await run.answer;
    const { fold } = folded(recordedEntries(run));
    const sentences = checkedSentences(fold, fold.entries.of('answer')[0] ?? 0, answer);
    expect(sentences.map(({ text }) => text).join(' ')).toBe(answer.answerText);
    const { threshold = 0, unsupported = [] } = answer.grounding ?? {};
    const below = sentences.filter(({ support }) => support !== null && support < threshold);
    expect(below.map(({ text, start }) => ({ text, start, end: start + text.length }))).toEqual(unsupported);
    expect(sentences.map(({ isSupported }) => isSupported)).toEqual([true, false]);
    expect(sentences[0]?.origins[0]).toMatchObject({ kind: 'passage', place: 'bridge.md:4' });
  });

  it('have the passage before the tool result that contains it, which keeps the location of its part', async () => {
    const found = `bridge.md:1-2\nThe bridge is long.\n\nbridge.md:4-4\n${text}\n\nbridge.md:9-9\nThe bridge was opened.`;
    const look = capabilityNamed('look', () => found);
    const calls = [{ capability: 'look', arguments: '{}' }];
    const plan = repliesWith({ action: { ...replies.action, calls }, synthesis: { answerText: text } });
    const { run } = startScripted(plan, { documents, capabilities: [look] }, { request: 'When was it opened?' });
    const answer = await run.answer;
    const { fold } = folded(recordedEntries(run));
    const [sentence] = checkedSentences(fold, fold.entries.of('answer')[0] ?? 0, answer);
    const [first, result] = sentence?.origins.filter(({ support }) => support === sentence.support) ?? [];
    expect([first?.kind, result?.kind]).toEqual(['passage', 'result']);
    expect(result?.excerpt).toMatch(/^… bridge\.md:4-4 The bridge was opened on 19 March 1932\.$/u);
  });
});
