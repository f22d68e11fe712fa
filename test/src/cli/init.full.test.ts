import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../../package.json' with { type: 'json' };
import { temporaryFolder } from '../../support/cli.ts';
import { init, initIn, testTemplate } from '../../support/new-project.ts';

describe('postchain init', () => {
  // The template `chat` needs packages that are installed for test/runtimes/clients/ai-sdk.test.ts.
  it.each(['agent', 'durable', 'desk'])(
    'creates a project from the template %s that passes its own tests',
    async (template) => {
      expect(await testTemplate(template)).toMatch(/Tests +\d+ passed \(\d+\)/u);
    },
  );

  it('deploys a support desk with Docker files that are valid YAML and start its built program', async () => {
    const { folder } = await init('desk', '--template', 'desk');
    const read = (name: string) => readFileSync(join(folder, 'desk', name), 'utf8');
    const { services } = parse(read('compose.yaml')) as { services: Record<string, { depends_on?: object }> };
    expect(Object.keys(services)).toEqual(['desk', 'db']);
    expect(services['desk']?.depends_on).toEqual({ db: { condition: 'service_healthy' } });
    expect(read('Dockerfile')).toContain('CMD ["node", "dist/main.js"]');
    expect(read('.dockerignore')).toContain('node_modules');
  });

  it('writes the name of the project and the version of the package, and prints what to do next', async () => {
    const { folder, stdout } = await init('my-agent');
    const read = (name: string) => readFileSync(join(folder, 'my-agent', name), 'utf8');
    const { name, dependencies } = JSON.parse(read('package.json'));
    expect([name, dependencies.postchain]).toEqual(['my-agent', `^${manifest.version}`]);
    expect(read('README.md')).toMatch(/^# my-agent\n/u);
    expect(read('.gitignore')).toMatch(/^node_modules\/$/mu);
    expect(stdout).toMatch(/^ {2}cd my-agent\n {2}npm install\n {2}npm test\n {2}npm start -- /mu);
  });

  it('creates a project in the working directory if that is empty', async () => {
    const folder = join(temporaryFolder(), 'my-desk');
    mkdirSync(folder);
    const { stdout } = await initIn(folder, '.');
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name).toBe('my-desk');
    expect(stdout).toMatch(/Next:\n {2}npm install\n/u);
    await expect(initIn(folder, '.')).rejects.toThrow("The directory '.' is not empty. Choose another one.");
  });

  it('depends on a given tarball by its absolute path, or on a given version', async () => {
    const tarball = join(temporaryFolder(), 'postchain.tgz');
    writeFileSync(tarball, '');
    for (const [spec, expected] of [
      [tarball, `file:${tarball}`],
      ['^9.0.0', '^9.0.0'],
      ['~9.0.0', '~9.0.0'],
    ] as const) {
      const { folder } = await init('one', '--template', 'chat', '--package', spec);
      const { dependencies } = JSON.parse(readFileSync(join(folder, 'one', 'package.json'), 'utf8'));
      expect(dependencies.postchain).toBe(expected);
    }
  });

  it('refuses a directory that is not empty, an invalid name and an unknown template, and writes nothing', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'full'));
    writeFileSync(join(folder, 'full', 'notes.txt'), '');
    const refused = (...args: readonly string[]) =>
      initIn(folder, ...args).then(
        () => null,
        (error) => error,
      );
    for (const [args, message] of [
      [['full'], "postchain: The directory 'full' is not empty. Choose another name.\n"],
      [['../up'], /^postchain: name: expected up to 100 lowercase .*; received '\.\.\/up'\.\n$/u],
      [['node_modules'], /^postchain: name: .* not a name that npm or Windows reserves; received/u],
      [['con.js'], /^postchain: name: .*received 'con\.js'\.\n$/u],
      [
        ['new', '--package', './no.tgz'],
        "postchain: --package: the file './no.tgz' does not exist. Check its path, or pass a version.\n",
      ],
      [
        ['new', '--template', 'x'],
        /^postchain: .*'x' is invalid\. Allowed choices are agent, chat, durable, desk\.\n$/u,
      ],
    ] as const)
      expect(await refused(...args)).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
    expect(readdirSync(folder, { recursive: true })).toEqual(['full', join('full', 'notes.txt')]);
  });
});
