import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { PostChainError } from '../../../../machines/contracts/error.ts';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import { createPassageIndex, createPostChain, documentsFrom } from '../../../../src/entries/index.ts';
import { anError, errorOf } from '../../../support/errors.ts';

const later = Promise.resolve('x');

const run = (options: unknown) => () => createPostChain().run(options as never);

describe('invalid options are rejected with one line before the start', () => {
  it.each([
    [{ limits: { maxCycles: -1 } }, /limits\.maxCycles: .*; received -1/],
    [{ limits: { maxCycles: 1.5 } }, /limits\.maxCycles: .*; received 1\.5/],
    [{ limits: { totalMs: Number.NaN } }, /limits\.totalMs: .*; received NaN/],
    [{ limits: { maxCylces: 3 } }, 'maxCylces'],
    [{ thresholds: { confidence: 2 } }, /thresholds\.confidence: .*; received 2/],
    [{ thresholds: { confidence: 'high' } }, /thresholds\.confidence: .*; received "high"/],
    [
      { thresholds: { prune: 0.8, summarize: 0.2 } },
      /thresholds\.prune: expected at most `summarize`.*; received 0\.8/,
    ],
    [{ modle: {} }, 'modle'],
    [{ model: {} }, /model: expected a model with a stream method.*; received an object with no keys/],
    [
      { documents: ['docs'] },
      /documents: expected a passage source, for example createPassageIndex.*; received an array of 1/,
    ],
    [{ limits: { maxCycles: 0 } }, 'limits.maxCycles: expected a number of at least 1; received 0.'],
    [{ limits: { maxCycles: '2' } }, 'limits.maxCycles: expected a number; received "2".'],
    [{ replyForm: 'x' }, 'replyForm: expected one of "text" or "tool-call" or "json-object"; received "x".'],
    [{ capabilities: [{ name: 'x' }] }, 'capabilities.0.description'],
    [{ prompts: { acton: {} } }, /^prompts\.acton: unknown option; expected one of action, experience, .*\.$/],
    [{ prompts: { yield: {} } }, /prompts\.yield: expected a prompt.*; received an object with no keys/],
    [
      { prompts: { yield: prompts.action } },
      /prompts\.yield: expected a prompt named "yield"; received one named "action"/,
    ],
    [{ clock: 3 }, /clock: .*; received 3/],
    [{ clock: new Date(0) }, 'clock: expected a clock with now, setTimeout and clearTimeout; received a Date.'],
    [{ clock: Date }, 'clock: expected a clock with now, setTimeout and clearTimeout; received a function.'],
    [null, 'options: expected an object; received null.'],
    ['x', /options: .*; received "x"/],
  ])('options %#: %s', (options, said) => {
    const error = errorOf(() => createPostChain(options as never));
    expect(error).toMatchObject(anError('invalid_option', said));
    expect(error.message).not.toContain('\n');
  });

  it.each([
    [{ request: '' }, 'invalid_request', /request: .*; received an empty string/],
    [{ request: ' \n ' }, 'invalid_request', /request: .*; received an empty string/],
    [{ request: 7 }, 'invalid_request', /request: expected a question or a task; received 7/],
    [{}, 'invalid_request', /request: expected a question or a task; received undefined/],
    [{ request: 'x'.repeat(1_000_001) }, 'invalid_request', /received 1000001\./],
    [
      { request: 'x', history: [{ role: 'system', content: 'y' }] },
      'invalid_option',
      /^history\.0\.role: expected "user" or "assistant"; received "system"\.$/,
    ],
    [{ request: 'x', history: ['y'] }, 'invalid_option', /^history\.0: expected a role \("user" .*; received "y"\.$/],
    [{ request: 'x', mode: 'fast' }, 'invalid_option', /mode: expected "automatic" or "manual".*; received "fast"/],
    [
      { request: 'x', startAt: 'lunch' },
      'invalid_option',
      /startAt: expected one of action, experience.*; received "lunch"/,
    ],
  ])('a run with %j', (options, code, message) => {
    expect(run(options)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
  });

  it.each(['What is a cycle?', ['What is a cycle?']])('a run with a request in place of the options: %j', (given) => {
    expect(run(given)).toThrow(
      anError(
        'invalid_request',
        /^options: expected an object such as \{ request: "What is a cycle\?" \}; received (?:"What is a cycle\?"|an array of 1)\.$/,
      ),
    );
  });

  it.each([
    ['the options of a run', 'options', run(Promise.resolve({ request: 'x' }))],
    ['a request', 'request', run({ request: later })],
    ['a part', 'request[0]', run({ request: [later] })],
    ['the text of a part', 'request[0].text', run({ request: [{ type: 'text', text: later }] })],
    ['the bytes of an image', 'request[0].image', run({ request: [{ type: 'image', image: later }] })],
    [
      'bytes in an object',
      'request[0].data',
      run({ request: [{ type: 'file', data: { type: 'data', data: later } }] }),
    ],
    ['a history', 'history', run({ request: 'x', history: later })],
    ['the content of a turn', 'history.0.content', run({ request: 'x', history: [{ role: 'user', content: later }] })],
    ['the options of a chain', 'options', () => createPostChain(later as never)],
    ['documents', 'documents', () => createPostChain({ documents: documentsFrom([]) as never })],
    ['documents of an index', 'documents', () => createPassageIndex(documentsFrom([]) as never)],
  ])('%s for which an await is missing are rejected with that reason', (_, where, act) => {
    const { code, message } = errorOf(act);
    expect(code).toMatch(/^invalid_(?:option|request)$/);
    expect(message).toMatch(/^[^\n]*: expected [^\n]*; received a Promise; await it\.$/);
    expect(message.split(': ', 1)).toEqual([where]);
  });

  it('a clock with an invalid time is rejected', () => {
    const clock = { now: () => Number.NaN, setTimeout: () => 0, clearTimeout: () => {} };
    expect(() => createPostChain({ clock }).run({ request: 'x' })).toThrow(
      /clock: expected now\(\) to return milliseconds.*; received NaN/,
    );
  });

  it('two capabilities with the same name are rejected', () => {
    const one = { name: 'look', description: 'looks', arguments: z.object({}), execute: () => '' };
    expect(() => createPostChain({ capabilities: [one, one] })).toThrow(
      expect.objectContaining({ code: 'duplicate_capability' }),
    );
  });

  it('rejects data of the host that refers to itself', () => {
    const host: Record<string, unknown> = { name: 'desk' };
    host['self'] = host;
    expect(run({ request: 'x', host })).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: 'host: expected JSON without references to itself; received an object with name, self.',
      }),
    );
  });

  it.each([
    [
      { dessert: 5 },
      '.dessert: unknown option; expected one of action, experience, intention, observation, understanding, yield.',
    ],
    [{ action: 0 }, '.action: expected a number above 0; received 0.'],
    [{ yield: -5 }, '.yield: expected a number above 0; received -5.'],
    [{ yield: 'soon' }, '.yield: expected a number; received "soon".'],
    [-5, ': expected a number above 0; received -5.'],
    [3e9, ': expected a number of at most 2147483647; received 3000000000.'],
    ['soon', ': expected milliseconds, or an object with milliseconds per phase; received "soon".'],
    [null, ': expected milliseconds, or an object with milliseconds per phase; received null.'],
  ])('[C8] a deadline per phase of %j', (phaseMs, message) => {
    const start = () => createPostChain({ limits: { phaseMs: phaseMs as never } });
    expect(start).toThrow(new PostChainError('invalid_option', `limits.phaseMs${message}`));
  });
});
