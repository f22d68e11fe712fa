import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PostChainError } from '../../machines/contracts/error.ts';
import { jsString } from '../../machines/text/quoting.ts';
import manifest from '../../package.json' with { type: 'json' };
import { describeSystemError } from '../internal/system-error.ts';

/** The same path from `src/cli` and from `dist/chunks`. */
const TEMPLATES = fileURLToPath(new URL('../../templates', import.meta.url));

/** The command that shows what each template does, without a key. */
const FIRST_START = {
  agent: 'npm start -- "Please refund order A7."',
  chat: 'npm start',
  durable: 'npm start -- place o-17 40',
  desk: 'npm start',
};

/** The folders of files of which a template consists; a later one replaces the files of an earlier one. */
const partsOf = (template: keyof typeof FIRST_START): readonly string[] =>
  template === 'desk' ? ['base', 'agent', 'desk'] : ['base', template];

const RESERVED = /^(?:node_modules|favicon\.ico|(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?)$/u;

export interface InitFlags {
  readonly template: keyof typeof FIRST_START;
  readonly package?: string;
}

/**
 * Creates a project named after its new or empty directory, and returns the text to print. Throws `invalid_option` if the name is invalid and
 * `invalid_path` if the directory cannot be used.
 */
export async function initCommand(directory: string, { template, package: spec }: InitFlags): Promise<string> {
  const isHere = directory === '.';
  const name = isHere ? basename(resolve()) : directory;
  if (!/^[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?$/u.test(name) || RESERVED.test(name)) {
    const expected =
      'up to 100 lowercase letters, digits, ".", "_" and "-", with a letter or digit at both ends, and not a name that npm or Windows reserves';
    throw new PostChainError('invalid_option', `name: expected ${expected}; received ${jsString(name)}.`);
  }
  const dependency = spec === undefined ? `^${manifest.version}` : dependencyOn(spec);
  await requireEmptyDirectory(directory);
  for (const part of partsOf(template))
    await cp(join(TEMPLATES, part), directory, { recursive: true }).catch(cannotWrite(directory));
  // npm leaves files named .gitignore out of a package.
  await rename(join(directory, 'gitignore'), join(directory, '.gitignore'));

  await edit(join(directory, 'README.md'), (text) => text.replace(/^# .*/u, `# ${name}`));
  await edit(join(directory, 'package.json'), (text) => {
    const project = JSON.parse(text);
    project.name = name;
    project.dependencies.postchain = dependency;
    return `${JSON.stringify(project, null, 2)}\n`;
  });
  const commands = [...(isHere ? [] : [`cd ${name}`]), 'npm install', 'npm test', FIRST_START[template]];
  return `Created ${name} from the template ${template}. Next:\n${commands.map((command) => `  ${command}\n`).join('')}`;
}

const cannotWrite = (name: string) => (cause: unknown) => {
  const message = `Cannot write the directory ${jsString(name)}: ${describeSystemError(cause)}.`;
  throw new PostChainError('invalid_path', message, { cause });
};

async function requireEmptyDirectory(name: string): Promise<void> {
  const files = await mkdir(name, { recursive: true })
    .then(() => readdir(name))
    .catch(cannotWrite(name));
  if (files.length > 0)
    throw new PostChainError(
      'invalid_path',
      `The directory ${jsString(name)} is not empty. Choose ${name === '.' ? 'another one' : 'another name'}.`,
    );
}

async function edit(path: string, change: (text: string) => string): Promise<void> {
  await writeFile(path, change(await readFile(path, 'utf8')));
}

/** A version, a tag, a URL or a path. The project is in another directory, so the path of a file must be absolute. */
function dependencyOn(spec: string): string {
  const path = spec.replace(/^file:/u, '');
  if (existsSync(path)) return `file:${resolve(path)}`;
  if (path === spec && !/^(?!https?:)(?:~?[/\\]|\.|[a-z]:|.*\.tgz$)/iu.test(spec)) return spec;
  throw new PostChainError(
    'invalid_path',
    `--package: the file ${jsString(path)} does not exist. Check its path, or pass a version.`,
  );
}
