import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import type { ModelRequest } from '../../../../machines/contracts/model.ts';
import { addedTokens } from '../../../../machines/policies/message-parts.ts';
import { readRun, withPictures } from '../../../../src/chain/journal/run-journal.ts';
import type { PostChainOptions } from '../../../../src/chain/runtime/options.ts';
import {
  type Content,
  createBareChain,
  createPassageIndex,
  createPostChain,
  createStructuredOutput,
  fallbackModel,
  memoryJournals,
  memorySessions,
  type RunOptions,
  replay,
  rerecord,
} from '../../../../src/entries/index.ts';
import { readContent } from '../../../../src/llm/content.ts';
import { always, scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { aMessage } from '../../../support/contract-samples.ts';
import { errorOf, throwing } from '../../../support/errors.ts';
import { killedAfter } from '../../../support/journal-files.ts';
import { chainOf, entriesOf, ONE_CALL_PER_PHASE, promptsIn, sendAnswer } from '../../../support/run-chain.ts';

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
const PNG_BASE64 = 'iVBORw0KGgoBAgM=';
const PDF_BASE64 = btoa('%PDF-1.7 nothing');
const REQUEST: Content = [
  { type: 'text', text: 'What is on the photo?' },
  { type: 'image', image: PNG, filename: 'photo.png' },
];
const FILES = ['image/*', 'application/pdf'];

const unreadable = new Proxy({}, { get: throwing('secret') });

function start(run: Partial<RunOptions> = {}, options: PostChainOptions = {}, accepts: readonly string[] = FILES) {
  const model = scriptedModel({}, { otherwise: replies, accepts });
  const chain = chainOf(model, { newId: () => 'run-1', ...options });
  return { model, chain, run: chain.run({ request: REQUEST, ...run }) };
}

const filesOf = ({ turns }: ModelRequest) =>
  turns.flatMap(({ role, files = [] }) => files.map((file) => ({ role, ...file })));

const isFile = ({ type }: JournalEntry): boolean => type === 'attachment';

describe('files of a request', () => {
  it('are shown to every phase with the user turn, and named to the model that writes the answer', async () => {
    const { run, model } = start();
    expect((await run.answer).status).toBe('completed');
    const tasksWith = new Set(model.calls.filter((call) => filesOf(call).length > 0).map(({ task }) => task));
    expect(model.calls.filter(({ task }) => !tasksWith.has(task)).map(({ task }) => task)).toEqual(['synthesis']);
    for (const call of model.calls) {
      const text = call.turns[1]?.content ?? '';
      expect(text).not.toContain(PNG_BASE64);
      expect(text).toContain(
        tasksWith.has(call.task)
          ? 'Files above this text, in order:\nphoto.png (image/png, 11 B), part of the request'
          : 'Files that other phases see and you do not:\nphoto.png (image/png, 11 B), part of the request',
      );
    }
    const [action] = model.calls;
    expect(filesOf(action as ModelRequest)).toMatchObject([
      { role: 'user', mediaType: 'image/png', name: 'photo.png', bytes: 11, data: PNG_BASE64 },
    ]);
    expect(action?.turns[1]?.content).toContain('Request: What is on the photo?');
  });

  it('stay with the prompt in a correction and in a prompt without native tools', async () => {
    let asked = 0;
    const model = scriptedModel(
      (request) => {
        asked += request.task === 'action' ? 1 : 0;
        return request.task === 'action' && asked === 1 ? { response: 7 } : replies[request.task as 'action'];
      },
      { accepts: FILES },
    );
    await chainOf(model).run({ request: REQUEST }).answer;
    const calls = model.calls.filter(({ task }) => task === 'action');
    expect(calls.map((call) => filesOf(call).length)).toEqual([1, 1]);
    expect(calls[1]?.turns.map(({ files = [] }) => files.length)).toEqual([0, 1, 0, 0]);
  });

  it('are accepted as bytes, Base64 text and data: URL, with the media type of the bytes', async () => {
    const { run } = start({
      request: [
        { type: 'image', image: runInNewContext(`Uint8Array.from([${PNG}])`) },
        { type: 'image', image: PNG.buffer.slice(0) },
        { type: 'image', image: new URL(`data:image/png;base64,${PNG_BASE64}`) },
        { type: 'image', image: 'UklGRiQAAABXRUJQVlA4IA==' },
        { type: 'file', data: { type: 'data', data: PDF_BASE64 }, mediaType: 'application/pdf' },
        { type: 'text', text: 'Compare.' },
      ],
    });
    await run.answer;
    const [journal] = entriesOf(run, 'start');
    expect(journal?.input.attachments?.map(({ mediaType, name, bytes }) => [mediaType, name, bytes])).toEqual([
      ['image/png', null, 11],
      ['image/png', null, 11],
      ['image/png', null, 11],
      ['image/webp', null, 16],
      ['application/pdf', null, 16],
    ]);
    expect(entriesOf(run, 'attachment').map(({ data }) => data)).toEqual([PNG_BASE64, expect.any(String), PDF_BASE64]);
  });

  it('of any length and content are stored as standard Base64', () => {
    for (const length of [1, 2, 3, 4, 255, 1_000]) {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 37 + 251) % 256);
      const data = Buffer.from(bytes).toString('base64');
      for (const given of [bytes, data, data.replace(/=+$/u, '').replaceAll('+', '-').replaceAll('/', '_')]) {
        const { files } = readContent([{ type: 'file', data: given, mediaType: 'image/png' }], 'request');
        expect(files).toMatchObject([{ bytes: length, data }]);
      }
    }
  });

  it('of earlier turns are shown with the message that they belong to', async () => {
    const { run, model } = start({
      request: 'And what is beside it?',
      history: [
        { role: 'user', content: REQUEST },
        { role: 'assistant', content: 'A bridge.' },
      ],
    });
    await run.answer;
    const [call] = model.calls;
    expect(filesOf(call as ModelRequest)).toHaveLength(1);
    expect(call?.turns[1]?.content).toContain('photo.png (image/png, 11 B), part of message earlier.h1');
    expect(call?.turns[1]?.content).toContain('<message id="earlier.h1" role="user" files="photo.png">');
  });

  it.each([
    [
      [{ type: 'image', image: 'https://example.com/a.png' }],
      /^request\[0\]\.image: expected bytes, Base64 text or a data: URL with ;base64; received a URL of https:\/\/example\.com; download it first\.$/,
    ],
    [
      [{ type: 'image', image: new URL('https://user:secret@example.com/a.png?token=secret') }],
      /^request\[0\]\.image: expected [^"]*; received a URL of https:\/\/example\.com; download it first\.$/,
    ],
    [
      [{ type: 'file', data: 'data:text/plain,secret' }],
      /^request\[0\]\.data: expected [^"]*; received a data: URL without ;base64\.$/,
    ],
    [[unreadable], /^request\[0\]: expected a part .*; received an object that cannot be read\.$/],
    [[{ type: 'image', image: 'UklGRiQAAABXQVZFZm10IA==' }], /^request\[0\]\.mediaType: expected .*; received none\.$/],
    [
      [{ type: 'image', image: 7 }],
      /^request\[0\]\.image: expected bytes \(Uint8Array or ArrayBuffer\), Base64 text or a data: URL; received 7\.$/,
    ],
    [
      [{ type: 'file', data: 'not Base64!' }],
      /^request\[0\]\.data: expected bytes, Base64 text or a data: URL; received text that is not Base64\.$/,
    ],
    // A regular expression that looks for the padding at the end would take hours.
    [
      [{ type: 'image', image: `data:image/png;base64,${'='.repeat(2_000_000)}A` }],
      /received text that is not Base64\.$/,
    ],
    [
      [{ type: 'file', data: 'AAAA' }],
      /^request\[0\]\.mediaType: expected the media type of the file, for example "image\/png"; received none\.$/,
    ],
    [
      [{ type: 'video', data: 'AAAA' }],
      /^request\[0\]: expected a part with the type "text", "image" or "file"; received an object with type, data\.$/,
    ],
    [
      [{ type: 'file', data: new Uint8Array(20_000_001), mediaType: 'application/pdf' }],
      /^files: expected at most 20 MB in total; received 20\.1 MB\.$/,
    ],
    [
      [{ type: 'image', imge: 'iVBORw0KGgo=' }],
      /^request\[0\]: unknown key "imge"; expected one of type, image, mediaType, filename, providerOptions\.$/,
    ],
    [
      [{ type: 'text', text: 'x', mediaType: 'text/plain' }],
      /^request\[0\]: unknown key "mediaType"; expected one of type, text, providerOptions\.$/,
    ],
    [
      [{ type: 'image', image: '/9j/', mediaType: 'image/png' }],
      /^request\[0\]\.image: expected the bytes of image\/png, its media type; received those of image\/jpeg; correct mediaType\.$/,
    ],
    [[{ type: 'text', text: 5 }], /^request\[0\]\.text: expected a string; received 5\.$/],
    [
      Array.from({ length: 51 }, (_, at) => ({ type: 'image', image: btoa(`photo ${at}`), mediaType: 'image/png' })),
      /^files: expected at most 50; received 51\.$/,
    ],
    [[{ type: 'text', text: ' ' }], /^request: expected a question or a task; received an array of 1\.$/],
  ])('that are invalid are rejected in one line before the run: %#', (request, message) => {
    const error = errorOf(() => start({ request: request as Content }));
    expect(error.code).toBe('invalid_request');
    expect(error.message).toMatch(message);
  });
});

it('a bare machine takes text only', () => {
  const model = scriptedModel({}, { accepts: FILES });
  expect(errorOf(() => createBareChain({ model }).createInput({ request: REQUEST })).message).toBe(
    'request: expected text only for a bare machine, which has no journal; received photo.png (image/png, 11 B). Use createPostChain.',
  );
});

describe('a model that does not accept a file', () => {
  it('is named, with what was received and what is expected, before the run', () => {
    const error = errorOf(() => start({}, {}, []));
    expect(error.code).toBe('unsupported_file');
    expect(error.message).toBe(
      'request: scripted accepts text only; received photo.png (image/png, 11 B). Use a model that reads image/png, or, if this one does, create it with accepts: ["image/png"].',
    );
    expect(errorOf(() => start({}, {}, ['application/pdf'])).message).toContain('scripted accepts application/pdf;');
  });

  it('is passed over without a call if a fallback model accepts it, and writes the other texts', async () => {
    const fallback = scriptedModel({}, { otherwise: replies, accepts: ['image/png'], id: 'sees' });
    const { run, model } = start({}, { fallbackModels: [fallback] }, []);
    const { status, metadata } = await run.answer;
    expect(status).toBe('completed');
    expect(model.calls.every((call) => filesOf(call).length === 0)).toBe(true);
    expect(model.calls.map(({ task }) => task)).toEqual(['synthesis']);
    expect(metadata.usage.modelCalls).toBe(model.calls.length + fallback.calls.length);
    const [refused] = entriesOf(run, 'attempt-end');
    expect(refused?.failure).toMatchObject({ code: 'unsupported_file', retryable: false });
  });

  it('does not hide why the model that accepts it is unavailable', async () => {
    const unreachable = scriptedModel(
      { action: always({ failure: { code: 'connection_failed', message: 'no route', retryable: false } }) },
      { accepts: FILES, id: 'sees' },
    );
    for (const fallbackFirst of [false, true]) {
      const blind = scriptedModel({}, { otherwise: replies });
      const [model, fallback] = fallbackFirst ? [blind, unreachable] : [unreachable, blind];
      const run = chainOf(model, { fallbackModels: [fallback] }).run({
        request: REQUEST,
      });
      const { metadata } = await run.answer;
      expect(metadata.reason).toBe('model_unavailable');
      expect(entriesOf(run, 'recovery')[0]?.failure).toMatchObject({ code: 'connection_failed', message: 'no route' });
      expect(entriesOf(run, 'phase-start')).toHaveLength(1);
    }
  });

  it('is an error if no single model accepts all files', () => {
    const fallback = scriptedModel({}, { accepts: ['application/pdf'], id: 'pages' });
    const request: Content = [...REQUEST, { type: 'file', data: PDF_BASE64 }];
    const { message } = errorOf(() => start({ request }, { fallbackModels: [fallback] }, ['image/*']));
    expect(message).toContain('request: scripted accepts image/*; pages accepts application/pdf; received photo.png');
  });
});

describe('the journal of a run with files', () => {
  it('stores the bytes once, directly after its start, and replays, rerecords and forks with them', async () => {
    const journals = memoryJournals();
    let count = 0;
    const { run, chain, model } = start({}, { journals, newId: () => `run-${++count}` });
    await run.answer;
    expect(run.entries[0]).toMatchObject({ type: 'start', input: { attachments: [{ name: 'photo.png', bytes: 11 }] } });
    expect(run.entries[1]).toMatchObject({ type: 'attachment', mediaType: 'image/png', data: PNG_BASE64 });
    expect(JSON.stringify(run.entries).split(PNG_BASE64)).toHaveLength(2);

    expect(replay(run.entries).divergence).toBeNull();
    expect((await rerecord(run.entries)).find(isFile)).toMatchObject({ data: PNG_BASE64 });

    const reply = run.entries.find((entry) => entry.type === 'activity-event' && entry.event.type === 'reply.ended');
    const before = model.calls.length;
    const forked = await chain.fork('run-1', { at: reply?.seq ?? 0, set: { 'reply.response': 'A tower.' } });
    expect((await forked.answer).status).toBe('completed');
    expect(forked.entries.find(isFile)).toMatchObject({ data: PNG_BASE64 });
    const again = model.calls.slice(before).filter((call) => filesOf(call).length > 0);
    expect(again.length).toBeGreaterThan(0);
    expect(filesOf(again[0] as ModelRequest)[0]?.data).toBe(PNG_BASE64);
  });

  it('resumes a run whose process died, with the files', async () => {
    const journals = memoryJournals();
    const hanging = scriptedModel({ action: [{ hang: true }] }, { accepts: FILES });
    const dead = createPostChain({ profile: ONE_CALL_PER_PHASE, model: hanging, journals, newId: () => 'run-1' }).run({
      request: REQUEST,
    });
    const again = killedAfter([...dead.entries]);
    dead.cancel();
    const model = scriptedModel({}, { otherwise: replies, accepts: FILES });
    const run = await chainOf(model, { journals: again }).resume('run-1');
    expect((await run.answer).status).toBe('completed');
    expect(filesOf(model.calls[0] as ModelRequest)[0]?.data).toBe(PNG_BASE64);
  });

  it('is shown with the bytes of pictures up to 2 MB, and no others', () => {
    const file = { seq: 1, atMs: 0, type: 'attachment', digest: 'd', name: null, bytes: 11, data: PNG_BASE64 } as const;
    const dataOf = (mediaType: string, data = PNG_BASE64) =>
      (withPictures({ ...file, mediaType, data }) as typeof file).data;
    expect(['image/png', 'image/svg+xml', 'application/pdf'].map((type) => dataOf(type))).toEqual([PNG_BASE64, '', '']);
    expect(dataOf('image/png', 'A'.repeat(3_000_000))).toBe('');
  });

  it('contains the prompts without the bytes', async () => {
    const { run } = start();
    await run.answer;
    expect(promptsIn(run.entries).length).toBeGreaterThan(3);
    expect(JSON.stringify(promptsIn(run.entries))).not.toContain(PNG_BASE64);
  });

  it.each([
    ['is redacted, so that it has no bytes', (entries: readonly JournalEntry[]) => entries],
    ['ends before the bytes', (entries: readonly JournalEntry[]) => entries.slice(0, 1)],
  ])('is not resumed if it %s', async (_, cut) => {
    const journals = memoryJournals({ redact: (text) => text.replaceAll('photo', '[hidden]') });
    const { run } = start({}, { journals });
    await run.answer;
    const entries = await readRun(journals.read('run-1'));
    expect(entries.find(isFile)).toMatchObject({ name: '[hidden].png', data: '' });
    expect(replay(entries).divergence).toBeNull();

    const call = entries.findIndex(({ type }) => type === 'activity-event');
    const again = killedAfter(cut(entries.slice(0, call)));
    const model = scriptedModel({}, { otherwise: replies, accepts: FILES });
    await expect(chainOf(model, { journals: again }).resume('run-1')).rejects.toMatchObject({
      code: 'invalid_journal',
      message:
        'The journal does not contain [hidden].png (image/png, 11 B); expected the bytes of every file. Start a new run with the file.',
    });
    expect(model.calls).toEqual([]);
    expect(await readRun(again.read('run-1'))).toEqual(cut(entries.slice(0, call)));
  });
});

describe('files in the context', () => {
  it('count as tokens of their message: a constant per image, a share of the bytes of other files', () => {
    const attachment = { digest: 'd', mediaType: 'image/png', name: null, bytes: 900_000 };
    const added = (mediaType: string) =>
      Math.round(
        addedTokens(aMessage({ attachments: [{ ...attachment, mediaType }] }), 0.25) - addedTokens(aMessage(), 0.25),
      );
    expect(Math.abs(added('image/png') - 1_600)).toBeLessThan(20);
    expect(Math.abs(added('text/csv') - 225_000)).toBeLessThan(20);
    expect(Math.abs(added('application/pdf') - 28_125)).toBeLessThan(20);
  });

  it('leave the context only with the consent of the user', async () => {
    const model = scriptedModel({}, { otherwise: replies, accepts: FILES, contextWindowTokens: 10_000 });
    const history = [1, 2, 3, 4, 5, 6].map((at) => ({
      role: 'user' as const,
      content: [
        { type: 'text' as const, text: `Photo ${at}` },
        { type: 'image' as const, image: btoa(`photo number ${at}`), mediaType: 'image/png', filename: `${at}.png` },
      ],
    }));
    const ask = chainOf(model, { consent: 'ask' }).run({
      request: 'Which bridge is the oldest?',
      history,
    });
    for await (const event of ask.events) {
      if (event.type !== 'consent-asked') continue;
      expect(event.request.items[0]?.preview).toMatch(/^Photo \d \[Attached: \d\.png \(image\/png, 14 B\)\]$/);
      sendAnswer(ask, { type: 'consent.given', choice: 'remove' });
    }
    await ask.answer;
    expect(entriesOf(ask, 'consent-resolved')[0]?.removed).toBeGreaterThan(0);
    const shown = model.calls.filter(({ task }) => task === 'yield').map((call) => filesOf(call).length);
    expect(shown[0]).toBeLessThan(6);

    const kept = chainOf(model, { consent: 'keep' }).run({
      request: 'Which bridge is the oldest?',
      history,
    });
    await kept.answer;
    expect(entriesOf(kept, 'consent-asked')).toEqual([]);
    expect(filesOf(model.calls.findLast(({ task }) => task === 'yield') as ModelRequest)).toHaveLength(6);
  });

  it('keep an answer from being judged by the words of unrelated documents', async () => {
    const documents = createPassageIndex([{ path: 'hours.md', text: 'The library opens at nine and closes at five.' }]);
    const model = scriptedModel(
      { yield: always({ ...replies.yield, answer: 'Tower Bridge spans the Thames.', confidence: 0.95 }) },
      { otherwise: replies, accepts: FILES },
    );
    const confidenceOf = async (request: Content) => {
      const run = chainOf(model, { documents }).run({ request });
      await run.answer;
      return entriesOf(run, 'decision')[0]?.decision.inputs['confidence'];
    };
    expect([await confidenceOf(REQUEST), await confidenceOf('What is on the photo?')]).toEqual([0.95, 0.5]);
  });

  it('are remembered by a session in one line', async () => {
    const sessions = memorySessions();
    await start({ sessionId: 'me' }, { sessions }).run.answer;
    const [turn] = await sessions.recall('me', { turns: 1, signal: new AbortController().signal });
    expect(turn?.request).toBe('What is on the photo?\n[Attached: photo.png (image/png, 11 B)]');
    expect(JSON.stringify(turn)).not.toContain('digest');
    const { run, model } = start({ sessionId: 'me', request: 'And then?' }, { sessions }, []);
    await run.answer;
    expect(model.calls[0]?.turns[1]?.content).toContain('[Attached: photo.png (image/png, 11 B)]');
    expect(filesOf(model.calls[0] as ModelRequest)).toEqual([]);
  });
});

describe('files in the prompt of structured output', () => {
  const schema = z.object({ bridge: z.string() });
  const prompt = [{ role: 'user' as const, content: REQUEST }];
  const reply = { output: always({ bridge: 'Tower Bridge' }) };

  it('are sent with their turn, also in a correction, to the models that accept them', async () => {
    const blind = scriptedModel(reply, { id: 'blind' });
    const model = scriptedModel({ output: [{ bridge: 7 }, { bridge: 'Tower Bridge' }] }, { accepts: FILES });
    const policy = fallbackModel(model);
    const output = createStructuredOutput({ model: blind, schema, prompt, policy });
    expect(await output.value).toEqual({ bridge: 'Tower Bridge' });
    expect(blind.calls).toEqual([]);
    expect(model.calls.map((call) => filesOf(call).map(({ name }) => name))).toEqual([['photo.png'], ['photo.png']]);
    expect(model.calls[0]?.turns.find(({ role }) => role === 'user')?.content).toBe('What is on the photo?');
    expect(output.execution.usage.modelCalls).toBe(2);
  });

  it('belong to turns of the user', () => {
    const turns = [{ role: 'assistant' as const, content: REQUEST }];
    const model = scriptedModel(reply, { accepts: FILES });
    expect(errorOf(() => createStructuredOutput({ model, schema, prompt: turns }).value).message).toBe(
      'prompt[0].content: expected only text in assistant turns; received files. Move them to a user turn.',
    );
  });

  it('are an error if no model accepts them, before a call', () => {
    const output = () => createStructuredOutput({ model: scriptedModel(reply), schema, prompt }).value;
    const error = errorOf(output);
    expect(error.code).toBe('unsupported_file');
    expect(error.message).toMatch(/^prompt: scripted accepts text only; received photo\.png/);
  });
});
