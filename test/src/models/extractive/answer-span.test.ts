import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce } from '../../../../src/internal/async.ts';
import { MAX_LIST_CHARS } from '../../../../src/models/extractive/candidate-spans.ts';
import { messageEvidence, splitHeading } from '../../../../src/models/extractive/evidence.ts';
import { answerSpan } from '../../../../src/models/extractive/find-answer.ts';
import { THREE_PHASE_CONTEXT } from '../../../support/extractive-inputs.ts';

const evidence = messageEvidence(THREE_PHASE_CONTEXT);

describe('the answer span', () => {
  it('is a whole list with its lead-in when the lead-in was asked about', () => {
    const span = atOnce(answerSpan('In which order does Yield check its guards?', evidence));
    expect(span?.text).toBe(
      'Yield checks these guards in order:\n1. `cycleLimitReached`\n2. `budgetExhausted`\n3. `confidenceReached`',
    );
    expect(span?.evidenceIds).toEqual(['s1']);
  });

  it('is the answering sentence, not the passage around it', () => {
    expect(atOnce(answerSpan('What does a dead source do?', evidence))?.text).toBe('A dead source degrades the phase.');
  });

  it('is a table row under its header', () => {
    const body = '| name | default |\n| --- | --- |\n| maxCycles | five |\n| maxTokens | many |';
    const span = atOnce(answerSpan('What is the default of maxCycles?', [{ id: 'a', heading: 'Limits', body }]));
    expect(span?.text).toBe('| name | default |\n| --- | --- |\n| maxCycles | five |');
  });

  it('is null when the evidence contains none of the words', () => {
    expect(atOnce(answerSpan('How do I deploy to Kubernetes?', evidence))).toBeNull();
    expect(atOnce(answerSpan('what is it', evidence))).toBeNull();
    expect(atOnce(answerSpan('anything', []))).toBeNull();
  });

  it('has a higher confidence the more of the question it covers, and names words without evidence', () => {
    const all = atOnce(answerSpan('What asks consent: a message longer than 1,000 characters?', evidence));
    const part = atOnce(answerSpan('What asks consent in the Zurich office of the company?', evidence));
    expect(all?.confidence).toBeGreaterThan(0.6);
    expect(part?.confidence).toBeLessThan(0.4);
    expect(part?.missing).toEqual(['Zurich', 'office', 'company']);
  });

  it('has a lower confidence when another span fits as well', () => {
    const body = 'The pump needs oil every month.';
    const clear = atOnce(answerSpan('What does the pump need every month?', [{ id: 'a', heading: '', body }]));
    const rivals = ['a', 'b'].map((id) => ({ id, heading: '', body }));
    expect(atOnce(answerSpan('What does the pump need every month?', rivals))?.confidence).toBeLessThan(
      clear?.confidence ?? 0,
    );
  });

  it('continues to a second span through a name that the first one introduces', () => {
    const pieces = [
      { id: 'a', heading: 'Blue Harbour', body: 'Blue Harbour is a novel written by Ada Quill.' },
      { id: 'b', heading: 'Ada Quill', body: 'Ada Quill was born in Lisbon.' },
      { id: 'c', heading: 'Tom Reed', body: 'Tom Reed was born in Oslo.' },
    ];
    const span = atOnce(answerSpan('Where was the writer of the novel Blue Harbour born?', pieces));
    expect(span?.evidenceIds).toEqual(['a', 'b']);
    expect(span?.text).toContain('Lisbon');
  });

  it('gathers both sides of a comparison', () => {
    const pieces = [
      { id: 'a', heading: 'Intention', body: 'Intention is about the desired future.' },
      { id: 'b', heading: 'Observation', body: 'Observation keeps what matters for later.' },
    ];
    expect(atOnce(answerSpan('Compare Intention and Observation', pieces))?.evidenceIds.toSorted()).toEqual(['a', 'b']);
  });

  it('is shortened to the requested items when it is too long', () => {
    const items = Array.from({ length: 90 }, (_, at) => `- option${at} does one of the things`);
    const body = `The options of the tool are:\n${items.join('\n')}`;
    const span = atOnce(
      answerSpan('Which options does the tool have, such as option77?', [{ id: 'a', heading: '', body }]),
    );
    expect(span?.text).toContain('option77');
    expect(span?.text.length).toBeLessThanOrEqual(MAX_LIST_CHARS);
  });

  it('stays within bounds and is deterministic for any input', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 400 });
    const lines = fc.array(
      fc.constantFrom(
        '- yield',
        '1. guard order',
        '| a | b |',
        '| --- | --- |',
        '```',
        'Yield decides. It stops:',
        '',
        'A > B',
      ),
    );
    const body = fc.oneof(
      text,
      lines.map((parts) => parts.join('\n')),
    );
    const piece = fc.record({ id: fc.string(), heading: text, body });
    fc.assert(
      fc.property(
        fc.oneof(text, fc.constant('In which order does Yield decide a guard?')),
        fc.array(piece, { maxLength: 6 }),
        (request, pieces) => {
          const span = atOnce(answerSpan(request, pieces));
          expect(atOnce(answerSpan(request, pieces))).toEqual(span);
          if (span === null) return;
          expect(span.text.trim()).not.toBe('');
          expect(span.text.length).toBeLessThanOrEqual(MAX_LIST_CHARS);
          for (const share of [span.confidence, span.coverage, span.gathered]) {
            expect(share).toBeGreaterThanOrEqual(0);
            expect(share).toBeLessThanOrEqual(1);
          }
        },
      ),
    );
  });
});

describe('the heading of a search result', () => {
  it.each([
    ['Yield > Order\nText.', 'Yield > Order'],
    ['# Yield\nText.', 'Yield'],
    ['How do I start?\nRun it.', 'How do I start?'],
    ['The rules are:\n- a', ''],
    ['A sentence of its own.\nAnother.', ''],
    ['- item\n- item', ''],
    ['Only one line', ''],
    ['', ''],
  ])('of %j is %j', (content, heading) => {
    expect(splitHeading(content).heading).toBe(heading);
  });
});
