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

/** Questions with what every contender answers. */
const CASES = (
  [
    ['How many seats does Tarn Hall have?', '340', 'Tarn Hall has 340 seats.', 0.9],
    ['Who built Tarn Hall?', 'Ada Wick', 'Tarn Hall was built in 1902.', 0.9],
    ['What does a ticket for the Marl Ferry cost?', '6 crowns', 'A ticket costs six crowns.', 0.5],
    ['Who is the captain of the Marl Ferry?', null, 'The documents do not say.', 0.2],
    ['Who was the first miller of the Ostrin Mill?', null, 'The first miller was Oswin Pryce.', 0.8],
  ] as const
).map(([question, expected, answer, confidence]) => ({ question, expected, answer, confidence }));
const CONTENDERS = ['plain', 'loop', 'lean', 'balanced', 'thorough'];
const WITHOUT_STATUS = ['plain', 'loop'];
const PRICE = '2,8,1';

interface Row {
  readonly id: string;
  readonly answer: string;
  readonly status: string | null;
  readonly confidence: number | null;
  readonly usage: { readonly calls: number; readonly outputTokens: number };
}

interface Scores {
  readonly contenders: readonly {
    readonly about: { readonly contender: string };
    readonly questions: number;
    readonly failed: number;
    readonly right: { readonly count: number; readonly of: number };
  }[];
}

/** A folder of the file's own, until its tests have ended. */
const folder = mkdtempSync(join(tmpdir(), 'postchain-quality-'));
const recordings = join(folder, 'recordings');
const SCRIPTED = [
  ...['--model', 'scripted', '--script', join(folder, 'script.json'), '--corpora', 'multihop', '--data', folder],
  ...['--contenders', CONTENDERS.join(), '--recordings', recordings, '--price', PRICE],
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
        expect(status === null).toBe(WITHOUT_STATUS.includes(contender));
        expect(confidence === null).toBe(WITHOUT_STATUS.includes(contender));
        expect(usage.outputTokens).toBeGreaterThan(0);
      }
    }
    expect(rowsOf('plain').map(({ usage }) => usage.calls)).toEqual(CASES.map(() => 1));
    // A call for the search, and one for the answer.
    expect(rowsOf('loop').map(({ usage }) => usage.calls)).toEqual(CASES.map(() => 2));
  });

  it('is scored again without calls, to the same figures', async () => {
    expect(scores.contenders.map(({ about, questions, failed }) => [about.contender, questions, failed])).toEqual(
      CONTENDERS.map((contender) => [contender, 5, 0]),
    );
    const again = await quality(['score', recordings, '--price', PRICE, '--json']);
    expect(JSON.parse(again.stdout)).toEqual(scores);
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

describe('the scores of a recording', () => {
  it('are shares with Wilson intervals, and means, medians and ratios with bootstrap intervals', async () => {
    const target = mkdtempSync(join(folder, 'scored-'));
    for (const [contender, factor] of [
      ['loop', 1],
      ['balanced', 2],
    ] as const) {
      const rows = CASES.map(({ expected, answer, confidence }, at) => ({
        ...{
          id: `q${at}`,
          corpus: 'own',
          expected,
          answer,
          firstTextMs: 10 * factor * (at + 1),
          ms: 100 * (at + factor),
        },
        ...{ status: factor === 1 ? null : confidence < 0.5 ? 'degraded' : 'completed' },
        ...{ confidence: factor === 1 ? null : confidence },
        reasons: factor === 2 && confidence < 0.5 ? [{ code: 'low_confidence' }] : [],
        usage: { calls: factor, inputTokens: 500 * factor + at, cachedInputTokens: 100 * at, outputTokens: 50 + at },
      }));
      const about = { contender, model: 'm', server: 's', concurrency: 1, startedAt: 'today', versions: {} };
      const lines = [about, ...rows].map((line) => `${JSON.stringify(line)}\n`);
      writeFileSync(join(target, `${contender}.jsonl`), lines.join(''));
    }
    const { stdout } = await quality(['score', target, '--price', PRICE]);
    expect(stdout.replace(/ +$/gmu, '')).toMatchInlineSnapshot(`
      "loop: m at s, today, 5 answers, concurrency 1
      balanced: m at s, today, 5 answers, concurrency 1
      95 % intervals: Wilson for shares, else bootstrap (2000 resamples, seed 1)

        answers                right  of those with an answer   of those without   wrong, looks good  right, looks bad          Brier score
        loop      60.0 % (23.1–88.2)       66.7 % (20.8–93.9)  50.0 % (9.5–90.5)  40.0 % (11.8–76.9)  0.0 % (0.0–65.8)          none stated
        balanced  60.0 % (23.1–88.2)       66.7 % (20.8–93.9)  50.0 % (9.5–90.5)  40.0 % (11.8–76.9)  0.0 % (0.0–65.8)  0.35 (0.07 to 0.62)

        compared with the expected text       exact match          F1 of words  no corrected reply
        loop                             0.0 % (0.0–56.1)  0.30 (0.00 to 0.57)                   –
        balanced                         0.0 % (0.0–56.1)  0.30 (0.00 to 0.57)                   –

        knows when it is wrong, by                AUROC  right in the better half
        balanced: confidence        0.25 (0.00 to 0.83)       0.40 (0.00 to 1.00)
        balanced: status            0.33 (0.00 to 0.50)       0.50 (0.00 to 1.00)

        reasons                   answers    of these wrong  of the wrong ones
        balanced: low_confidence        1  0.0 % (0.0–79.3)   0.0 % (0.0–65.8)

        mean per answer; times: median                calls         input tokens  of these cached  output tokens                          cost  first text (ms)    wall time (ms)
        loop                            1.00 (1.00 to 1.00)     502 (501 to 503)  200 (80 to 320)  52 (51 to 53)  0.00122 (0.00111 to 0.00133)    30 (10 to 50)  300 (100 to 500)
        balanced                        2.00 (2.00 to 2.00)  1002 (1001 to 1003)  200 (80 to 320)  52 (51 to 53)  0.00222 (0.00211 to 0.00233)   60 (20 to 100)  400 (200 to 600)

        compared with loop, on the same questions  only this right  only loop             right  wrong, looks good
        balanced                                            0 of 5          0  0.0 (0.0 to 0.0)   0.0 (0.0 to 0.0)

        times those of loop                calls         input tokens        output tokens                 cost           first text            wall time
        balanced             2.00 (2.00 to 2.00)  2.00 (1.99 to 2.00)  1.00 (1.00 to 1.00)  1.82 (1.75 to 1.90)  2.00 (2.00 to 2.00)  1.33 (1.20 to 2.00)

        stated confidence  answers  mean  has the expected text
        balanced 0.2–0.4         1  0.20       0.0 % (0.0–79.3)
        balanced 0.4–0.6         1  0.50   100.0 % (20.7–100.0)
        balanced 0.8–1           3  0.87      33.3 % (6.1–79.2)
      "
    `);
  });
});

describe('npm run quality', () => {
  it.each([
    [[], '--model is missing'],
    [['--model', 'gpt-4.1-mini'], 'api.openai.com needs a key: set OPENAI_API_KEY'],
    [['--model', 'extractive', '--contenders', 'quick'], 'unknown "quick"; expected any of plain,loop,langgraph,lean'],
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
        ...['--data', folder, '--contenders', 'loop,lean', '--recordings', target],
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
        ...['--contenders', 'loop', '--limit', '1', '--recordings', join(folder, 'unreachable')],
      ],
      { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(lookup)}` },
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/^quality: loop failed at "[^"\n]*": .*ECONNREFUSED/u);
  });
});
