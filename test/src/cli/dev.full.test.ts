import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startCli, temporaryFolder } from '../../support/cli.ts';

const urlOf = (path: string): string => JSON.stringify(pathToFileURL(path).href);

describe('postchain dev', () => {
  it('serves machines with a worker and the inspector, and continues their actors with code that was changed', async () => {
    const folder = temporaryFolder();
    const [module, machine] = ['postchain.config.mjs', 'machine.mjs'].map((name) => join(folder, name)) as [
      string,
      string,
    ];
    const writeMachine = (target: string): void =>
      writeFileSync(
        machine,
        `import { createMachine } from ${urlOf('node_modules/xstate/dist/xstate.esm.js')};
        const [early, late] = [{ type: 'final' }, { type: 'final' }];
        const waiting = { on: { CLOSE: '${target}' }, after: { 1: 'ready' } };
        const ready = { on: { CLOSE: '${target}' } };
        export const machine = createMachine({ id: 'shop', initial: 'waiting', states: { waiting, ready, early, late } });`,
      );
    writeMachine('early');
    writeFileSync(
      module,
      `import { createDurableMachine } from ${urlOf('dist/durable.js')};
      import { fileJournals } from ${urlOf('dist/node.js')};
      import { machine } from './machine.mjs';
      export const shops = createDurableMachine(machine, { journals: fileJournals(${JSON.stringify(join(folder, 'journals'))}) });`,
    );
    const started = startCli(['dev', '--module', module, '--port', '0', '--inspect-port', '0']);
    const { text } = started;
    const starts = () => text.stderr.split('Press Ctrl-C to stop the server.').length - 1;
    await expect.poll(starts).toBe(1);
    const [, token = ''] = /^TOKEN=(\S+)$/mu.exec(text.stderr) ?? [];
    /** The server of the latest start. */
    const call = async (path: string, body?: object) => {
      const [, url = ''] = [...text.stderr.matchAll(/^Machine: (\S+)$/gmu)].at(-1) ?? [];
      const response = await fetch(`${url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      return response.json() as Promise<{ readonly id: string; readonly value: unknown }>;
    };
    const { id } = await call('', {});
    const value = async () => (await call(`/${id}`)).value;
    // The worker fires the timer.
    await expect.poll(value).toBe('ready');

    writeMachine('late');
    await expect.poll(starts).toBe(2);
    await call(`/${id}/events`, { type: 'CLOSE' });
    await expect.poll(value).toBe('late');
    const [, inspector = ''] = [...text.stderr.matchAll(/^Inspector: (\S+)$/gmu)].at(-1) ?? [];
    expect((await fetch(inspector)).status).toBe(200);
    started.child.kill('SIGTERM');
    await started.finished;
    await expect(fetch(inspector)).rejects.toThrow();
  });

  it('needs a durable machine', async () => {
    const { code, stderr } = await startCli(['dev'], { POSTCHAIN_DEV: '1' }).finished;
    expect(code).toBe(2);
    expect(stderr).toContain('dev: expected --module FILE, or a postchain.config file in this directory');
  });
});
