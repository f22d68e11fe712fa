import { execFile, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/cli.ts';

/** Mounts a disk of 20 MB that only the program sees and that ends with it. */
const UNSHARE = 'unshare';
const onSmallDisk = (folder: string, ...command: readonly string[]): string[] => [
  '--mount',
  '--map-root-user',
  'sh',
  '-c',
  'mount -t tmpfs -o size=20m tmpfs "$0" && exec "$@"',
  folder,
  ...command,
];
const hasSmallDisks = spawnSync(UNSHARE, onSmallDisk(tmpdir(), 'true')).status === 0;
const it = hasSmallDisks ? test : test.skip;

interface RunOnFullDisk {
  readonly runId: string;
  readonly answerText: string;
  readonly failure: string | null;
}
interface Listed {
  readonly id: string;
  readonly status: string;
}
/** What `full-disk-runs.mjs` prints. */
interface Report {
  readonly unstarted: readonly RunOnFullDisk[];
  readonly full: readonly RunOnFullDisk[];
  readonly listed: readonly Listed[];
  readonly session: { readonly code: string; readonly message: string } | null;
  readonly later: RunOnFullDisk;
  readonly resumed: readonly RunOnFullDisk[];
  readonly turns: number;
  readonly after: readonly Listed[];
}

async function runOnFullDisk(kind: string): Promise<Report> {
  const folder = temporaryFolder();
  const command = [process.execPath, 'test/support/full-disk-runs.mjs', kind, folder, '20'];
  const { stdout } = await promisify(execFile)(UNSHARE, onSmallDisk(folder, ...command));
  return JSON.parse(stdout) as Report;
}

describe.each(['file', 'sqlite'])('a disk that is full (%s journals; needs unshare)', (kind) => {
  it('ends every run with an answer, names the cause, and leaves runs that can be resumed', async () => {
    const { unstarted, full, listed, session, later, resumed, turns, after } = await runOnFullDisk(kind);
    expect([unstarted.length, full.length]).toEqual([2, 10]);
    for (const { answerText } of [...unstarted, ...full]) expect(answerText).not.toBe('');
    const failures = full.flatMap(({ failure }) => failure ?? []);
    expect(failures.length).toBeGreaterThan(1);
    for (const failure of [...unstarted.map((run) => run.failure), ...failures])
      expect(failure).toMatch(/the disk is full; free space on its volume|ENOSPC: no space left on device/u);
    expect(listed.length).toBeGreaterThan(1);
    // Neither running for ever nor damaged, although not even the release of a journal could be written.
    for (const { status } of listed) expect(['done', 'interrupted']).toContain(status);
    expect(session).toMatchObject({
      code: 'session_failed',
      message: expect.stringMatching(/: the disk is full; free space on its volume$/u),
    });
    for (const run of [later, ...resumed]) expect(run).toMatchObject({ answerText: later.answerText, failure: null });
    expect(resumed.map(({ runId }) => runId)).toEqual(
      listed.filter(({ status }) => status === 'interrupted').map(({ id }) => id),
    );
    expect(turns).toBe(1);
    expect(after).toHaveLength(listed.length + 1);
    for (const { status } of after) expect(status).toBe('done');
  });
});
