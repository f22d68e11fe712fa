import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assign, emit, fromPromise, setup } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { createDurableMachine, type DurableMachineOptions } from '../../../src/durable/durable-machine.ts';
import { defineGuard } from '../../../src/durable/guards.ts';
import { fileJournals } from '../../../src/durable/journals/file-journals.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { recordOnce } from '../../../src/durable/recorded-values.ts';
import { errorCodec } from '../../../src/durable/value-codecs.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { writeJournal } from '../../support/journal-files.ts';

class CardDeclined extends TypeError {
  override readonly name = 'CardDeclined';
  readonly code: string;
  readonly #status: number;
  constructor(code: string, options?: ErrorOptions) {
    super('declined', options);
    this.code = code;
    this.#status = 402;
  }
  get status(): number {
    return this.#status;
  }
  get isFinal(): boolean {
    return this.code === 'stolen';
  }
}
class Money extends Map {}
class Day extends Date {}
class Tags extends Set {}
class List extends Array {}
class Bytes extends Uint8Array {}
class Pattern extends RegExp {}
class Link extends URL {}

/** Keeps what it receives: its input, the value of an event, what a call returns or throws, and what `recordOnce` returns. */
const keeperOf = (work: () => unknown) =>
  setup({
    types: { context: {} as Record<'input' | 'event' | 'result' | 'recorded', unknown> },
    actors: { call: fromPromise<unknown, unknown>(async () => work()) },
  }).createMachine({
    id: 'keeper',
    context: ({ input }) => ({ input, event: null, result: null, recorded: null }),
    initial: 'idle',
    states: {
      idle: {
        on: {
          KEEP: { actions: assign({ event: ({ event }) => event['value'] }) },
          RECORD: { actions: assign({ recorded: () => recordOnce('value', work) }) },
          CALL: 'calling',
        },
      },
      calling: {
        invoke: {
          src: 'call',
          input: ({ context }: { context: { event: unknown } }) => context.event,
          onDone: { target: 'idle', actions: assign({ result: ({ event }) => event.output }) },
          onError: { target: 'idle', actions: assign({ result: ({ event }) => event.error }) },
        },
      },
    },
  });

/** Opens the machine on files, and returns a function that closes it and opens it in another process. */
async function opened(work: () => unknown, input?: unknown, options: Partial<DurableMachineOptions> = {}) {
  const directory = temporaryFolder();
  const machine = () => createDurableMachine(keeperOf(work), { journals: fileJournals(directory), ...options });
  const actor = await machine().open('a', { input: input as never });
  const reopened = async () => {
    await actor.close();
    const next = await machine().open('a', { mustExist: true });
    onTestFinished(() => next.close());
    return next.getSnapshot().context;
  };
  return { actor, reopened, contextNow: () => actor.getSnapshot().context };
}

const withTag = Object.assign(new Error('named'), { name: 'Timeout', status: undefined, $type: 'Date' });

describe('a stored value', () => {
  it.each<readonly [string, unknown]>([
    [
      'undefined members, at any depth',
      { a: undefined, b: [{ c: undefined }, undefined], d: new Map([['e', { f: undefined }]]) },
    ],
    ['numbers that JSON does not have', [-0, Number.NaN, Number.POSITIVE_INFINITY, 5n]],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1, b: undefined })],
    ['a member named __proto__', JSON.parse('{"__proto__":{"a":1}}')],
    ['a member with the name of the tag', { $type: 'Date', value: undefined }],
    ['dates', [new Date(5), new Map([[new Date(0), new Set([1n])]])]],
    ['bytes', [new Uint8Array([0, 255]), Buffer.from('ä'), new Uint8Array([1, 2, 3]).subarray(1), new ArrayBuffer(2)]],
    [
      'typed arrays',
      [
        new Float64Array([-0, 1.5]),
        new BigInt64Array([-1n]),
        new Uint8ClampedArray(0),
        new DataView(new ArrayBuffer(3)),
      ],
    ],
    ['regular expressions', [/a\/b/giu, Object.assign(/x/y, { lastIndex: 3 })]],
    ['addresses', [new URL('https://user@example.com/a?b=ä#c'), new URLSearchParams('a=1&a=2&b=%20')]],
    ['an error', new Error('plain', { cause: { a: undefined } })],
    ['an error with members', withTag],
    [
      'errors of built-in classes',
      [
        new TypeError('t'),
        new RangeError('r'),
        new SyntaxError('s'),
        new ReferenceError('e'),
        new EvalError('v'),
        new URIError('u'),
      ],
    ],
    ['several errors', new AggregateError([new TypeError('t'), undefined], 'all', { cause: 'c' })],
    ['a DOM exception', new DOMException('late', 'TimeoutError')],
    ['an error of this package', new PostChainError('not_durable', 'no', { cause: 1 })],
  ])('is the same in the live process and in the next: %s [D2]', async (_, value) => {
    const { actor, reopened, contextNow } = await opened(() => value, value);
    await actor.send({ type: 'KEEP', value } as never);
    await actor.send({ type: 'RECORD' });
    await actor.send({ type: 'CALL' });
    await expect.poll(contextNow).not.toMatchObject({ result: null });
    const kept = { input: value, event: value, recorded: value, result: value };
    for (const context of [contextNow(), await reopened()])
      for (const [place, expected] of Object.entries(kept))
        expect([place, isDeepStrictEqual(context[place as 'input'], expected)]).toEqual([place, true]);
  });

  it('has no stack of the code that restores it: the stack of an error is its name and message [D5]', async () => {
    const late = new DOMException('late', 'TimeoutError');
    const value = [
      withTag,
      late,
      new AggregateError([], 'all'),
      new PostChainError('internal', ''),
      new CardDeclined(''),
    ];
    const { reopened } = await opened(() => null, value, { codecs: [errorCodec('CardDeclined', CardDeclined)] });
    const { input } = (await reopened()) as unknown as { input: Error[] };
    const heads = [
      'Timeout: named',
      'TimeoutError: late',
      'AggregateError: all',
      'PostChainError',
      'CardDeclined: declined',
    ];
    expect(input.map(({ stack }) => stack)).toEqual(heads);
    expect(input.flatMap(Object.keys)).not.toContain('stack');
  });

  const hidden = Object.defineProperty({}, 'hidden', { value: 1 });
  it.each<readonly [where: string, received: string, value: unknown]>([
    ['.a[0].b', 'an instance of Money', { a: [{ b: new Money() }] }],
    ['', 'an instance of Day', new Day(0)],
    ['', 'an instance of Tags', new Tags()],
    ['', 'an instance of List', List.of(1)],
    ['', 'an instance of Bytes', new Bytes(1)],
    ['', 'an instance of Pattern', new Pattern('x')],
    ['', 'an instance of Link', new Link('https://a.b')],
    ['', 'an instance of String', new String('boxed')],
    ['', 'an instance of ArrayBuffer', Reflect.construct(ArrayBuffer, [1, { maxByteLength: 2 }])],
    ['', 'an instance of CardDeclined', new CardDeclined('stolen')],
    ['[1]', 'an empty slot', Object.assign(new Array(3), { 0: 0, 2: 2 })],
    ['.index', 'a member of an instance of Array', /b/u.exec('abc')],
    ['.zone', 'a member of an instance of Date', Object.assign(new Date(0), { zone: 'UTC' })],
    ['.Symbol(s)', 'a member whose key is a symbol', { [Symbol('s')]: 1 }],
    [
      '.total',
      'an accessor',
      {
        get total() {
          return 1;
        },
      },
    ],
    ['.hidden', 'a member that is not enumerable', hidden],
  ])('is refused with its path, not changed: %s %s [D5]', async (where, received, value) => {
    const { actor, contextNow } = await opened(() => value);
    const refusalAt = (place: string) => ({
      code: 'not_durable',
      message: expect.stringContaining(
        `${place}${where}: expected JSON, or a value of a codec; received ${received}. `,
      ),
    });
    await expect(actor.send({ type: 'KEEP', value } as never)).rejects.toMatchObject(refusalAt('event for a.value'));
    await expect(opened(() => null, value)).rejects.toMatchObject(refusalAt('input'));
    await actor.send({ type: 'CALL' });
    await expect.poll(contextNow).toMatchObject({ result: refusalAt('') });
  });
});

describe('an error of a custom class that a call throws', () => {
  const fail = () => {
    const causes = [new CardDeclined('inner'), { socket: () => {} }];
    throw new CardDeclined('stolen', { cause: new AggregateError(causes, 'network') });
  };

  async function caught(options: Partial<DurableMachineOptions>) {
    const logged: unknown[] = [];
    const all = { ...options, logger: (text: unknown) => void logged.push(text) };
    const { actor, reopened, contextNow } = await opened(fail, null, all);
    for (const _ of [1, 2]) {
      await actor.send({ type: 'CALL' });
      await expect.poll(contextNow).not.toMatchObject({ result: null });
    }
    const live = contextNow().result;
    expect(isDeepStrictEqual((await reopened()).result, live)).toBe(true);
    return { live, logged };
  }

  it('reaches the machine as its nearest built-in class, and the logger names what it loses once [D2]', async () => {
    const { live, logged } = await caught({});
    expect(live).toMatchObject({ name: 'CardDeclined', message: 'declined', code: 'stolen' });
    expect(Object.getPrototypeOf(live)).toBe(TypeError.prototype);
    expect(logged).toEqual([
      expect.stringContaining('an error of the class CardDeclined is stored as TypeError'),
      expect.stringMatching(/^Left out: .*\.data\.cause\.errors\[1\]\.socket: expected JSON/u),
    ]);
  });

  it('keeps its class with errorCodec [D5]', async () => {
    const { live } = await caught({ codecs: [errorCodec('CardDeclined', CardDeclined)] });
    expect(live).toBeInstanceOf(CardDeclined);
    expect(live).toMatchObject({ code: 'stolen', isFinal: true, cause: { message: 'network' } });
  });
});

describe('a journal of an earlier version', () => {
  /** As that version recorded it: without members that are `undefined`, and with all errors as `Error`. */
  const RECORDED = `
{"seq":0,"atMs":12,"type":"start","format":3,"actorId":"a","machine":{"id":"recorded","version":"1","digest":"c0306862e9a96c06"},"input":{},"product":null,"seed":3734975616,"startedAt":"2026-11-29T01:56:08.077Z","node":"20.20.2","icu":"78.2","forkedFrom":null}
{"seq":1,"atMs":13,"type":"delivery","actor":"","event":{"type":"CALL","patch":{}}}
{"seq":2,"atMs":13,"type":"transition","actor":"","machine":"recorded","event":"CALL","source":"recorded.idle","target":["recorded.calling"],"candidates":[]}
{"seq":3,"atMs":13,"type":"activity-start","activity":0,"actor":"/0.recorded.calling","source":"fail","inputDigest":"4d936d5211078462"}
{"seq":4,"atMs":21,"type":"activity-event","activity":0,"source":"fail","actor":"/0.recorded.calling","event":{"type":"xstate.promise.reject","data":{"$type":"Error","value":{"name":"TypeError","message":"no"}}}}
{"seq":5,"atMs":21,"type":"transition","actor":"","machine":"recorded","event":"xstate.error.actor.0.recorded.calling","source":"recorded.calling","target":["recorded.general"],"candidates":[{"guard":"isTypeError","target":["recorded.special"],"result":"false","inputs":{"error":{"$type":"Error","value":{"name":"TypeError","message":"no"}}}},{"guard":null,"target":["recorded.general"],"result":"taken","inputs":null}]}
{"seq":6,"atMs":21,"type":"emitted","actor":"","event":{"type":"failed","error":{"$type":"Error","value":{"name":"RangeError","message":"r"}},"groups":{"a":1}}}`;

  it('replays as it was recorded, and continues [D5]', async () => {
    const recorded = setup({
      actors: { fail: fromPromise<null, unknown>(async () => null) },
      guards: {
        isTypeError: defineGuard(({ event }) => {
          const { error } = event as unknown as { error: unknown };
          return { holds: error instanceof TypeError, inputs: { error, none: undefined } };
        }),
      },
    }).createMachine({
      id: 'recorded',
      version: '1',
      initial: 'idle',
      context: ({ input }) => ({ patch: input as unknown }),
      states: {
        idle: { on: { CALL: { target: 'calling', actions: assign({ patch: ({ event }) => event['patch'] }) } } },
        calling: {
          invoke: {
            src: 'fail',
            input: { amount: 1, note: undefined },
            onError: [{ guard: 'isTypeError', target: 'special' }, { target: 'general' }],
          },
        },
        special: {},
        general: {
          entry: emit(() => ({
            type: 'failed',
            error: new RangeError('r'),
            note: undefined,
            groups: Object.assign(Object.create(null), { a: 1 }),
          })),
          on: { END: 'ended' },
        },
        ended: { type: 'final' },
      },
    });
    const store = memoryJournals();
    const lines = RECORDED.trim().split('\n');
    await writeJournal(
      store,
      'a',
      lines.map((line) => JSON.parse(line)),
    );
    const machine = createDurableMachine(recorded, { journals: store });
    const actor = await machine.open('a', { mustExist: true });
    expect(actor.getSnapshot()).toMatchObject({ value: 'general', context: { patch: {} } });
    await actor.send({ type: 'END' } as never);
    expect((await machine.replay('a')).divergence).toBeNull();
  });
});
