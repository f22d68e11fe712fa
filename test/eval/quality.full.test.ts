import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Finished } from '../support/cli.ts';

const PARAGRAPHS = [
  ['Tarn Hall', 'Tarn Hall has 340 seats. It was built by Ada Wick in 1902.'],
  ['Marl Ferry', 'The Marl Ferry sails twice a day and takes 35 minutes. A ticket costs 6 crowns.'],
  ['Ostrin Mill', 'The Ostrin Mill grinds rye. Its wheel was replaced in 1954.'],
].map(([title, text], at) => ({ id: `p${at}`, title, text }));

/** Questions with what every contender answers, and whether that is right. */
const CASES = (
  [
    ['How many seats does Tarn Hall have?', '340', 'Tarn Hall has 340 seats.', 0.9, true],
    ['Who built Tarn Hall?', 'Ada Wick', 'Tarn Hall was built in 1902.', 0.9, false],
    ['What does a ticket for the Marl Ferry cost?', '6 crowns', 'A ticket costs six crowns.', 0.5, true],
    ['Who is the captain of the Marl Ferry?', null, 'The documents do not say.', 0.2, true],
    ['Who was the first miller of the Ostrin Mill?', null, 'The first miller was Oswin Pryce.', 0.8, false],
  ] as const
).map(([question, expected, answer, confidence, right]) => ({ question, expected, answer, confidence, right }));
const CONTENDERS = ['loop', 'lean', 'balanced', 'thorough'];
const PRICE = { input: 2, output: 8, cached: 1 };

interface Row {
  readonly id: string;
  readonly expected: string | null;
  readonly answer: string;
  readonly status: string | null;
  readonly confidence: number | null;
  readonly usage: Readonly<Record<'calls' | 'inputTokens' | 'cachedInputTokens' | 'outputTokens', number>>;
  readonly firstTextMs: number;
  readonly ms: number;
}

interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

type Share = Estimate & { readonly count: number; readonly of: number };
type Averages = Readonly<
  Record<'calls' | 'inputTokens' | 'cachedInputTokens' | 'outputTokens' | 'cost' | 'firstTextMs' | 'ms', Estimate>
>;

interface Scores {
  readonly contenders: readonly (Averages &
    Readonly<Record<'right' | 'answered' | 'abstained' | 'wrongAsGood' | 'rightNotGood', Share>> & {
      readonly about: { readonly contender: string };
      readonly questions: number;
      readonly failed: number;
      readonly brier: Estimate | null;
      readonly reliability: readonly { from: number; to: number; confidence: number; right: Share }[];
    })[];
  readonly pairs: readonly (Averages &
    Readonly<Record<'right' | 'wrongAsGood', Estimate>> & {
      readonly contender: string;
      readonly onlyThis: number;
      readonly onlyBase: number;
    })[];
}

/** A folder of the file's own, until its tests have ended. */
const folder = mkdtempSync(join(tmpdir(), 'postchain-quality-'));
const recordings = join(folder, 'recordings');
const SCRIPTED = [
  ...['--model', 'scripted', '--script', join(folder, 'script.json'), '--corpora', 'multihop', '--data', folder],
  ...['--recordings', recordings, '--price', Object.values(PRICE).join()],
];

function quality(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, ['bench/quality/main.mjs', ...args], { env: { PATH, ...env } });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (piece: string) => {
      text[name] += piece;
    });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...text })));
}

const linesOf = (contender: string): readonly string[] =>
  readFileSync(join(recordings, `${contender}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
const rowsOf = (contender: string): readonly Row[] =>
  linesOf(contender)
    .slice(1)
    .map((line) => JSON.parse(line));

beforeAll(() => {
  const rows = CASES.map(({ question, expected }, at) => ({
    id: `q${at}`,
    question,
    answer: expected,
    messages: PARAGRAPHS,
  }));
  writeFileSync(join(folder, 'multihop.own.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const script = CASES.map(({ question, answer, confidence }) => [question, { answer, confidence }]);
  writeFileSync(join(folder, 'script.json'), JSON.stringify(Object.fromEntries(script)));
  return () => rmSync(folder, { recursive: true });
});

describe('the quality of scripted answers', () => {
  let finished: Finished;
  let scores: Scores;

  beforeAll(async () => {
    finished = await quality([...SCRIPTED, '--json']);
    scores = JSON.parse(finished.stdout || 'null');
  });

  it('is recorded for every contender and question, with the answer unchanged', () => {
    expect(finished).toMatchObject({ code: 0, stderr: '' });
    for (const contender of CONTENDERS) {
      const rows = rowsOf(contender);
      expect(rows.map(({ answer }) => answer)).toEqual(CASES.map(({ answer }) => answer));
      for (const { status, confidence, usage } of rows) {
        expect(status === null).toBe(contender === 'loop');
        expect(confidence === null).toBe(contender === 'loop');
        expect(usage.outputTokens).toBeGreaterThan(0);
      }
    }
    // A call for the search, and one for the answer.
    expect(rowsOf('loop').map(({ usage }) => usage.calls)).toEqual(CASES.map(() => 2));
  });

  it('is scored by the shares of right answers, and of wrong ones that look good, with Wilson intervals', () => {
    expect(scores.contenders.map(({ about }) => about.contender)).toEqual(CONTENDERS);
    for (const found of scores.contenders) {
      const rows = judged(found.about.contender);
      const looksGood = ({ status }: Row): boolean => status !== 'degraded' && status !== 'cancelled';
      const answerable = rows.filter(({ expected }) => expected !== null);
      const right = (some: typeof rows): number => some.filter((row) => row.right).length;
      expectShare(found.right, 3, 5);
      expectShare(found.answered, 2, 3);
      expectShare(found.abstained, 1, 2);
      expectShare(found.wrongAsGood, rows.filter((row) => !row.right && looksGood(row)).length, 5);
      const degraded = answerable.filter((row) => row.right && !looksGood(row)).length;
      expectShare(found.rightNotGood, degraded, right(answerable));
      expect([found.questions, found.failed]).toEqual([5, 0]);
    }
    expectShare(scores.contenders[0]?.wrongAsGood, 2, 5);
  });

  it('compares stated confidences with the outcomes', () => {
    expect(scores.contenders[0]).toMatchObject({ brier: null, reliability: [] });
    for (const found of scores.contenders.slice(1)) {
      const rows = judged(found.about.contender);
      const points = rows.map(({ confidence, right, expected }) => ({
        stated: confidence ?? Number.NaN,
        has: right && expected !== null,
      }));
      expectEstimate(found.brier, points, (some) =>
        average(some.map(({ stated, has }) => (stated - (has ? 1 : 0)) ** 2)),
      );
      expect(found.reliability.reduce((sum, { right }) => sum + right.of, 0)).toBe(5);
      for (const { from, to, confidence, right } of found.reliability) {
        const within = points.filter(({ stated }) => stated >= from && (stated < to || to === 1));
        expectShare(right, within.filter(({ has }) => has).length, within.length);
        expect(confidence).toBeCloseTo(average(within.map(({ stated }) => stated)), 10);
      }
    }
  });

  it('has mean calls, tokens and costs, and median times, with bootstrap intervals', () => {
    for (const found of scores.contenders) {
      const rows = rowsOf(found.about.contender);
      for (const name of ['calls', 'inputTokens', 'cachedInputTokens', 'outputTokens'] as const)
        expectEstimate(found[name], rows, (some) => average(some.map(({ usage }) => usage[name])));
      expectEstimate(found.cost, rows, (some) => average(some.map(costOf)));
      for (const name of ['firstTextMs', 'ms'] as const)
        expectEstimate(found[name], rows, (some) => middle(some.map((row) => row[name])));
    }
  });

  it('compares each profile with the loop on the same questions', () => {
    expect(scores.pairs.map(({ contender }) => contender)).toEqual(CONTENDERS.slice(1));
    const base = judged('loop');
    for (const found of scores.pairs) {
      const pairs = judged(found.contender).map((row, at) => [row, base[at] ?? row] as const);
      const sum = (some: readonly (typeof pairs)[number][], side: 0 | 1, of: (row: Row) => number): number =>
        some.reduce((total, pair) => total + of(pair[side]), 0);
      const expectRatio = (ratio: Estimate, of: (row: Row) => number): void =>
        expectEstimate(ratio, pairs, (some) => sum(some, 0, of) / sum(some, 1, of));
      for (const name of ['calls', 'inputTokens', 'outputTokens'] as const)
        expectRatio(found[name], ({ usage }) => usage[name]);
      expectRatio(found.cost, costOf);
      for (const name of ['firstTextMs', 'ms'] as const)
        expectEstimate(found[name], pairs, (some) => middle(some.map(([one, other]) => one[name] / other[name])));
      expect(found).toMatchObject({ onlyThis: 0, onlyBase: 0, right: { value: 0, low: 0, high: 0 } });
      const wrongAsGood = (row: (typeof base)[number]): number => Number(!row.right && row.status !== 'degraded');
      expectEstimate(found.wrongAsGood, pairs, (some) =>
        average(some.map(([one, other]) => wrongAsGood(one) - wrongAsGood(other))),
      );
    }
  });

  it('is scored again without calls, as a table of the same figures', async () => {
    const options = ['score', recordings, '--price', Object.values(PRICE).join()];
    expect(JSON.parse((await quality([...options, '--json'])).stdout)).toEqual(scores);
    const { stdout } = await quality(options);
    const interval = ({ value, low, high }: Estimate, digits: number): string =>
      `${value.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`;
    const share = ({ value, low, high, of }: Share): string =>
      of === 0 ? '–' : `${[value].map(inPercent)} % (${inPercent(low)}–${inPercent(high)})`;
    for (const one of scores.contenders) {
      const { right, answered, abstained, wrongAsGood, rightNotGood, brier, about } = one;
      expect(cellsOf(stdout, about.contender)).toContainEqual([
        ...[right, answered, abstained, wrongAsGood, rightNotGood].map(share),
        brier === null ? 'none stated' : interval(brier, 2),
      ]);
      const tokens = [one.inputTokens, one.cachedInputTokens, one.outputTokens];
      expect(cellsOf(stdout, about.contender)).toContainEqual([
        interval(one.calls, 2),
        ...tokens.map((each) => interval(each, 0)),
        interval(one.cost, 5),
        ...[one.firstTextMs, one.ms].map((each) => interval(each, 0)),
      ]);
      for (const { from, to, confidence, right: has } of one.reliability)
        expect(cellsOf(stdout, `${about.contender} ${from}–${to}`)).toEqual([
          [String(has.of), confidence.toFixed(2), share(has)],
        ]);
    }
    for (const { contender, calls, inputTokens, outputTokens, cost, firstTextMs, ms } of scores.pairs)
      expect(cellsOf(stdout, contender)).toContainEqual(
        [calls, inputTokens, outputTokens, cost, firstTextMs, ms].map((ratio) => interval(ratio, 2)),
      );
  });

  it('continues an interrupted recording, and refuses to mix two models', async () => {
    const before = linesOf('lean');
    const others = ['loop', 'balanced'].map((contender) => linesOf(contender));
    writeFileSync(join(recordings, 'lean.jsonl'), `${before.slice(0, 4).join('\n')}\n${before[4]?.slice(0, 30)}`);
    expect(await quality(SCRIPTED)).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf('lean').slice(0, 4)).toEqual(before.slice(0, 4));
    expect(rowsOf('lean').map(({ id }) => id)).toEqual(['q0', 'q1', 'q2', 'q3', 'q4']);
    expect(['loop', 'balanced'].map((contender) => linesOf(contender))).toEqual(others);
    const mixed = await quality(['--model', 'extractive', '--recordings', recordings, '--corpora', 'multihop']);
    expect(mixed).toMatchObject({ code: 2, stdout: '' });
    expect(mixed.stderr).toContain('was recorded with model scripted, not extractive');
  });
});

describe('the judgment of an answer', () => {
  const expected = { expected: 'every 3 months', also: ['quarterly'] };
  const none = { expected: null };
  const RIGHT = [
    [expected, 'Descale it **every three months**.'],
    [expected, 'EVERY 3\nMONTHS'],
    [expected, 'Quarterly, or when the light blinks.'],
    [{ expected: '1,200' }, 'About 1200 jobs per second.'],
    [{ expected: '20元' }, '票价是 20 元。'],
    [{ expected: '€600', also: [] }, 'The budget is € 600.'],
    [{ expected: 'yes' }, 'Yes, both are.'],
    [none, 'The documents do not say.'],
    [none, 'The price isn’t mentioned in the manual.'],
    [none, 'Dazu finde ich keine Angaben.'],
    [none, '文档中没有提到价格。'],
  ];
  const WRONG = [
    [expected, 'Descale it every 13 months.'],
    [expected, 'Descale it every month.'],
    [expected, 'The documents do not say.'],
    [{ expected: '2' }, 'You get 27 days, 12 of them paid.'],
    [{ expected: 'no' }, 'Yes. There is no difference.'],
    [{ expected: 'DL-2' }, 'Use DL-20.'],
    [none, 'It costs 99 EUR.'],
    [none, `It costs 99 EUR. ${'More about the machine. '.repeat(10)}The weight is not mentioned.`],
    [none, ''],
  ];

  it('accepts other wordings of a right answer, and nothing else', async () => {
    const target = mkdtempSync(join(folder, 'judged-'));
    const usage = { calls: 1, inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, estimated: false };
    const reply = { corpus: 'own', status: 'completed', confidence: 1, reasons: [], usage, firstTextMs: 1, ms: 1 };
    for (const [contender, cases] of [
      ['lean', RIGHT],
      ['thorough', WRONG],
    ] as const) {
      const rows = cases.map(([question, answer], at) => ({ id: `q${at}`, ...Object(question), ...reply, answer }));
      const lines = [{ contender, model: 'm', server: 's', concurrency: 1, startedAt: '', versions: {} }, ...rows];
      writeFileSync(join(target, `${contender}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    }
    const found: Scores = JSON.parse((await quality(['score', target, '--json'])).stdout);
    expect(found.contenders.map(({ right }) => [right.count, right.of])).toEqual([
      [RIGHT.length, RIGHT.length],
      [0, WRONG.length],
    ]);
  });
});

describe('npm run quality', () => {
  it.each([
    [[], '--model is missing'],
    [['--model', 'gpt-4.1-mini'], 'api.openai.com needs a key: set OPENAI_API_KEY'],
    [['--model', 'extractive', '--profiles', 'quick'], 'unknown "quick"; expected any of lean,balanced,thorough'],
    [['--model', 'extractive', '--price', '2'], 'expected INPUT,OUTPUT[,CACHED]'],
    [['score', join(folder, 'nothing')], 'no recordings'],
  ])('exits with 2 for %j', async (args, message) => {
    const { code, stdout, stderr } = await quality(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('stops asking a server that fails, and never writes the key', async () => {
    const key = 'sk-quality-secret';
    let requests = 0;
    const server = createServer((request, response) => {
      requests += 1;
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `wrong key ${request.headers.authorization}` } }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const target = join(folder, 'refused');
    const { code, stdout, stderr } = await quality(
      [
        ...['--model', 'gpt-x', '--base-url', `http://127.0.0.1:${port}/v1`, '--corpora', 'multihop'],
        ...['--data', folder, '--profiles', 'lean', '--recordings', target],
      ],
      { OPENAI_API_KEY: key },
    );
    expect(code).toBe(1);
    // The loop and `lean`, three questions each.
    expect(stderr).toContain('6 failed');
    expect(requests).toBe(6);
    const written = readdirSync(target).map((name) => readFileSync(join(target, name), 'utf8'));
    expect(written).toHaveLength(2);
    expect([stdout, stderr, ...written].filter((text) => text.includes(key))).toEqual([]);
  });

  it('states on one line why a server with several addresses cannot be reached', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const lookup = `import dns from 'node:dns';
      dns.lookup = (host, options, done) => done(null, ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 })));`;
    const { code, stderr } = await quality(
      [
        ...['--model', 'gpt-x', '--base-url', `http://localhost:${port}/v1`, '--corpora', 'multihop', '--data', folder],
        ...['--profiles', '', '--limit', '1', '--recordings', join(folder, 'unreachable')],
      ],
      { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(lookup)}` },
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/^quality: loop failed at "[^"\n]*": .*ECONNREFUSED/u);
  });
});

/** The rows of a contender, with whether each is right. */
const judged = (contender: string): readonly (Row & { readonly right: boolean })[] =>
  rowsOf(contender).map((row, at) => ({ ...row, right: CASES[at]?.right ?? false }));

const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return average([sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]].map(Number));
}

function costOf({ usage: { inputTokens, cachedInputTokens, outputTokens } }: Row): number {
  const { input, output, cached } = PRICE;
  const millionths = (inputTokens - cachedInputTokens) * input + cachedInputTokens * cached + outputTokens * output;
  return millionths / 1_000_000;
}

const Z = 1.959964;

/** The bounds of Wilson's interval are the rates from which the found one is Z standard errors away. */
function expectShare(found: Share | undefined, count: number, of: number): void {
  if (found === undefined) throw new Error('no share');
  expect([found.count, found.of]).toEqual([count, of]);
  if (of === 0) return;
  expect(found.value).toBeCloseTo(count / of, 10);
  for (const bound of [found.low, found.high])
    expect(Math.abs(bound - count / of)).toBeCloseTo(Z * Math.sqrt((bound * (1 - bound)) / of), 6);
  expect(found.low).toBeLessThanOrEqual(found.value);
  expect(found.high).toBeGreaterThanOrEqual(found.value);
  expect(found.high - found.low).toBeGreaterThan(0.1);
}

/** How far the share of 2,000 resamples may be from that of all: six standard errors. */
const TOLERANCE = 0.021;

/** Compares an estimate with the statistic of the rows, and its bounds with the statistics of all 3,125 ways to draw five rows. */
function expectEstimate<T>(
  found: Estimate | null,
  rows: readonly T[],
  statistic: (rows: readonly T[]) => number,
): void {
  if (found === null) throw new Error('no estimate');
  expect(found.value).toBeCloseTo(statistic(rows), 9);
  const all = drawsOf(rows, rows.length).map(statistic);
  const share = (holds: (value: number) => boolean): number => all.filter(holds).length / all.length;
  const margin = 1e-9 * Math.max(1, Math.abs(found.value));
  expect(share((value) => value < found.low - margin)).toBeLessThanOrEqual(0.025 + TOLERANCE);
  expect(share((value) => value <= found.low + margin)).toBeGreaterThanOrEqual(0.025 - TOLERANCE);
  expect(share((value) => value > found.high + margin)).toBeLessThanOrEqual(0.025 + TOLERANCE);
  expect(share((value) => value >= found.high - margin)).toBeGreaterThanOrEqual(0.025 - TOLERANCE);
}

const drawsOf = <T>(rows: readonly T[], count: number): readonly T[][] =>
  count === 0 ? [[]] : drawsOf(rows, count - 1).flatMap((drawn) => rows.map((row) => [...drawn, row]));

const inPercent = (share: number): string => (100 * share).toFixed(1);

/** The cells of the lines of a table that a name begins. */
const cellsOf = (table: string, name: string): readonly (readonly string[])[] =>
  table
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/u))
    .filter(([first]) => first === name)
    .map(([, ...cells]) => cells);
