import { spawn } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Finished, temporaryFolder } from '../support/cli.ts';
import { isSoak } from '../support/soak.ts';

/** Invented data sets in the format of the public ones. */
const CORPUS = 'test/eval/corpus';

/** The result of a measurement in `--json`. */
interface Found {
  readonly value: number;
  readonly unit: string;
  readonly rows: number;
  readonly holds: boolean | null;
  readonly baselines?: Readonly<Record<string, number>>;
  readonly recalls?: Readonly<Record<string, number>>;
}

/** Runs the evaluation of the built policies. */
function evaluate(...args: readonly string[]): Promise<Finished> {
  const child = spawn(process.execPath, ['bench/eval/main.mjs', ...args]);
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (piece: string) => {
      text[name] += piece;
    });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...text })));
}

const lines = (text: string): readonly string[] => text.trimEnd().split('\n');
const rowsOf = (set: string): readonly string[] => lines(readFileSync(join(CORPUS, `${set}.own.jsonl`), 'utf8'));

interface Floor {
  readonly rows: number;
  readonly least: number;
  readonly over?: string[];
}

/** Lower bounds for our own data sets, well below today's values. */
const FLOORS: Readonly<Record<string, Floor>> = {
  retention_dialogue_own_size: { rows: 20, least: 0.9, over: ['the newest'] },
  retention_dialogue_16000: { rows: 20, least: 1 },
  retention_dialogue_8000: { rows: 20, least: 1 },
  retention_roles_own_size: { rows: 20, least: 0.8, over: ['the newest'] },
  retention_paragraphs_half: { rows: 12, least: 0.85 },
  completion_traces: { rows: 94, least: 0.9, over: ["believing the model's Finish", 'never complete'] },
  completion_claims_only: {
    rows: 37,
    least: 0.75,
    over: ["believing the model's Finish", 'a Finish with at most 5 words'],
  },
  completion_dialogue: { rows: 60, least: 0.85, over: ['goodbye pattern', 'never complete'] },
  sufficiency: { rows: 24, least: 0.6 },
  path_efficiency: { rows: 8, least: 0.6, over: ['always to the limit'] },
  path_efficiency_among_others: { rows: 8, least: 0.5, over: ['always to the limit'] },
};

/** Those of measurements that take minutes. */
const SLOW_FLOORS: typeof FLOORS = {
  recorded_agree_balanced: { rows: 40, least: 1 },
  recorded_agree_lean: { rows: 40, least: 1 },
  profiles_agree_balanced: { rows: 269, least: 0.95 },
  profiles_agree_lean: { rows: 269, least: 0.95 },
};

/** All measurements in the soak, else those that take seconds. */
const MEASURES = isSoak ? [] : ['retention', 'paragraphs', 'traces', 'dialogue', 'sufficiency', 'path'];
if (isSoak) process.stderr.write('soak: all measurements of our own corpus\n');

describe('the evaluation of our own corpus', () => {
  let finished: Finished;
  let found: Readonly<Record<string, Found>>;

  beforeAll(async () => {
    finished = await evaluate(...MEASURES, '--data', CORPUS, '--json');
    found = JSON.parse(finished.stdout);
  });

  it.each(Object.entries(isSoak ? { ...FLOORS, ...SLOW_FLOORS } : FLOORS))(
    '[U14] [Y12] reports %s with its rows, baselines, and target result, and stays above its lower bound',
    (measure, { rows, least, over = [] }) => {
      const { [measure]: result } = found;
      if (result === undefined) throw new Error(`no ${measure} in ${Object.keys(found)}`);
      expect(result.rows).toBe(rows);
      expect(result.unit).not.toBe('');
      expect([true, false, null]).toContain(result.holds);
      expect(result.value).toBeGreaterThanOrEqual(least);
      expect(result.value).toBeLessThanOrEqual(1);
      expect(Object.keys(result.baselines ?? {})).not.toEqual([]);
      for (const share of Object.values(result.baselines ?? {})) expect(share >= 0 && share <= 1).toBe(true);
      for (const baseline of over) expect(result.value).toBeGreaterThan(result.baselines?.[baseline] ?? 1);
    },
  );

  it.each(['completion_traces', 'completion_dialogue', 'sufficiency'])(
    '[Y12] reports the recall of both classes for %s, and keeps both high',
    (measure) => {
      const { complete = 0, incomplete = 0 } = found[measure]?.recalls ?? {};
      expect(found[measure]?.value).toBeCloseTo((complete + incomplete) / 2, 12);
      expect(Math.min(complete, incomplete)).toBeGreaterThan(0.3);
    },
  );

  it('exits with 0, and measures the evaluation times in the soak', () => {
    for (const measure of isSoak ? ['evaluation_cold_ms', 'evaluation_one_more_ms'] : [])
      expect(found[measure]).toMatchObject({ value: expect.any(Number), rows: expect.any(Number) });
    expect(finished.code).toBe(0);
  });
});

describe('the evaluation of a data directory', () => {
  /** A directory with copies of our data sets under other names. */
  const folderOf = (files: Readonly<Record<string, string>>): string => {
    const folder = temporaryFolder();
    for (const [name, as] of Object.entries(files)) copyFileSync(join(CORPUS, `${name}.own.jsonl`), join(folder, as));
    return folder;
  };
  const folderWith = (name: string, text: string): string => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, name), text);
    return folder;
  };
  it('finds another split by the file name up to its first dot, and no other file', async () => {
    const folder = folderOf({ yield_sgd: 'yield_sgd.second.half.jsonl', yield_traces: 'yield_sgd_more.dev.jsonl' });
    const { code, stdout, stderr } = await evaluate('dialogue', 'traces', '--data', folder, '--json');
    expect(Object.keys(JSON.parse(stdout))).toEqual(['completion_dialogue']);
    expect(JSON.parse(stdout).completion_dialogue.rows).toBe(60);
    expect(stderr).toContain('yield_sgd.second.half.jsonl');
    expect(code).toBe(0);
  });

  it('skips measurements whose data set is missing, with a line on stderr, and exits with 0', async () => {
    const folder = temporaryFolder();
    const { code, stdout, stderr } = await evaluate('traces', 'path', '--data', folder, '--json');
    expect(lines(stderr)).toEqual([
      `eval: skipped traces: no yield_traces.*.jsonl in ${folder}`,
      `eval: skipped path: no multihop.*.jsonl in ${folder}`,
    ]);
    expect({ code, found: JSON.parse(stdout) }).toEqual({ code: 0, found: {} });
  });

  it('reports a missing --data directory', async () => {
    const { code, stderr } = await evaluate('traces', '--data', join(temporaryFolder(), 'nowhere'));
    expect(stderr).toMatch(/^eval: .*nowhere is not a directory/);
    expect(code).toBe(2);
  });

  it('prints a table with baselines, and with --check exits with 1 if a target is missed', async () => {
    const { code, stdout } = await evaluate('traces', '--data', CORPUS, '--check');
    const [head, row] = lines(stdout);
    expect(head).toMatch(/^measure +value +target +recalls +baselines +rows$/);
    expect(row).toMatch(/^completion_traces +\d+\.\d % +>= 91\.0 % .*never complete 50\.0 % +94$/);
    expect(code).toBe(row?.includes('MISSED') ? 1 : 0);
  });

  it('ignores blank lines and a missing last line break', async () => {
    const [first = ''] = rowsOf('yield_sgd');
    const { stdout } = await evaluate(
      'dialogue',
      '--data',
      folderWith('yield_sgd.x.jsonl', `\n${first}\n \n${first}`),
      '--json',
    );
    expect(JSON.parse(stdout).completion_dialogue.rows).toBe(2);
  });

  it('rejects an unknown measurement and names it', async () => {
    const { code, stdout, stderr } = await evaluate('lunch', '--data', CORPUS);
    expect(lines(stderr)[0]).toContain('eval: unknown measurement "lunch"');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('reports a usage error in one line', async () => {
    expect(lines((await evaluate('lunch')).stderr)).toHaveLength(1);
  });

  it.each(['toString', 'constructor', '__proto__'])('rejects the name %s like any other unknown name', async (name) => {
    expect((await evaluate(name, '--data', CORPUS)).code).toBe(2);
  });

  it('reports invalid JSON with file and line number, in one line', async () => {
    const { code, stderr } = await evaluate('traces', '--data', folderWith('yield_traces.x.jsonl', '{}\nno JSON\n'));
    expect(stderr).toMatch(/^eval: .*yield_traces\.x\.jsonl:2\b.*\n$/);
    expect(code).not.toBe(0);
  });

  it('reports a row in the wrong format with its file, in one line', async () => {
    const { stderr } = await evaluate('traces', '--data', folderWith('yield_traces.x.jsonl', '{"question":"Who?"}\n'));
    expect(stderr).toMatch(/yield_traces\.x\.jsonl: a row/);
    expect(stderr).not.toMatch(/\n {4}at /);
  });

  it('skips a data set without rows, and reports only finite values', async () => {
    const { stdout } = await evaluate('traces', '--data', folderWith('yield_traces.x.jsonl', '\n'), '--json');
    for (const { value } of Object.values<Found>(JSON.parse(stdout))) expect(Number.isFinite(value)).toBe(true);
  });

  it('reports a --data path that is a file, in one line', async () => {
    const { stderr } = await evaluate('traces', '--data', join(CORPUS, 'yield_sgd.own.jsonl'));
    expect(lines(stderr).filter((line) => !line.startsWith('eval: '))).toEqual([]);
  });
});

describe('our own corpus', () => {
  it.each([
    ['locomo_retention', ['id', 'split', 'speaker_a', 'speaker_b', 'messages', 'queries']],
    ['multihop', ['id', 'source', 'split', 'question', 'answer', 'type', 'messages', 'gold', 'hops']],
    ['yield_sgd', ['id', 'split', 'services', 'history', 'next_phase', 'complete', 'gold_acts', 'gold_call']],
    [
      'yield_sufficiency',
      ['id', 'source', 'split', 'question', 'gathered', 'complete', 'missing_gold', 'min_cycles_left', 'next_phase'],
    ],
    [
      'yield_traces',
      [
        'id',
        'source',
        'split',
        'question',
        'gold_answer',
        'gold_titles',
        'steps',
        'finished',
        'correct',
        'step_complete',
      ],
    ],
  ])('has the fields of the public set in every row of %s', (name, fields) => {
    for (const line of rowsOf(name)) expect(Object.keys(JSON.parse(line))).toEqual(fields);
  });
});
