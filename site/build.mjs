// Builds the site from README, docs/ and the docstrings of the entry points, without a network. `--dev` serves it, and follows changes of pages.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { dirname, extname, join, posix } from 'node:path';
import { startPage } from './start.mjs';

const site = import.meta.dirname;
const root = join(site, '..');
const pages = join(site, 'pages');
const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const source = `${repository.url.replace(/^git\+|\.git$/gu, '')}/blob/main/`;

const renamed = { 'docs/README.md': 'docs.md', 'CHANGELOG.md': 'changelog.md' };
const files = [
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => extname(name) !== '')
    .map((name) => posix.join('docs', name.replaceAll('\\', '/'))),
];
/** The path of a file of the repository in the site; undefined if the site does not have it. */
const placeOf = (file) => (files.includes(file) ? (renamed[file] ?? file.replace(/^docs\//u, '')) : undefined);

/** Links of a page lead to pages of the site, or to the repository. */
function converted(file, text) {
  const here = dirname(placeOf(file));
  const link = (target) => {
    if (/^(?:[a-z]+:|#|\/)/iu.test(target)) return target;
    const [path, anchor] = target.split('#');
    const place = placeOf(posix.normalize(posix.join(posix.dirname(file), path)));
    const hash = anchor === undefined ? '' : `#${anchor}`;
    if (place === undefined) return `${source}${posix.normalize(posix.join(posix.dirname(file), path))}${hash}`;
    const relative = posix.relative(here, place);
    return `${relative.startsWith('.') ? '' : './'}${relative}${hash}`;
  };
  return text
    .split(/(^```[\s\S]*?^```$)/mu)
    .map((part, at) =>
      at % 2 === 1
        ? part
        : part
            .replace(/\]\(([^)\s]+)\)/gu, (_, target) => `](${link(target)})`)
            .replace(/(src|srcset)="([^"]+)"/gu, (_, name, target) => `${name}="${link(target)}"`)
            .replaceAll('<img ', '<img loading="lazy" '),
    )
    .join('');
}

function copy(file) {
  const to = join(pages, placeOf(file));
  mkdirSync(dirname(to), { recursive: true });
  if (file.endsWith('.md')) writeFileSync(to, converted(file, readFileSync(join(root, file), 'utf8')));
  else cpSync(join(root, file), to);
}

/** Writes the run that the playground shows first, in the inspector and as an answer. */
async function writePlaygroundRun() {
  const { createPassageIndex, createPostChain } = await import('../dist/index.js');
  const example = readFileSync(join(site, '.vitepress/theme/playground-example.json'), 'utf8');
  const { request, text } = JSON.parse(example);
  const started = createPostChain({
    documents: createPassageIndex([{ path: 'your-text.md', text }]),
    profile: 'balanced',
  }).run({ request });
  const answer = await started.answer;
  const page = '/playground-run.html';
  writeFileSync(join(pages, 'public', page), (await exportRun(started.entries)).html);
  writeFileSync(join(pages, 'playground-run.json'), JSON.stringify({ answer, page }));
}

const run = (name, ...args) => {
  const bin = join(site, 'node_modules/.bin', name);
  if (!existsSync(bin)) throw new Error('The tools of the site are not installed. Run: npm ci --prefix site');
  execFileSync(bin, args, { cwd: site, stdio: 'inherit' });
};
const isDev = process.argv.includes('--dev');
rmSync(pages, { recursive: true, force: true });
for (const file of files) copy(file);
cpSync(join(site, 'playground.md'), join(pages, 'playground.md'));
writeFileSync(join(pages, 'index.md'), await startPage(readFileSync(join(site, 'start.md'), 'utf8')));
const { recordRuns } = await import('../examples/runs.mjs');
const { exportRun } = await import('../dist/inspection.js');
const links = (await recordRuns()).map(async ({ title, journal }) => {
  const path = `/runs/${journal[0].input.runId}.html`;
  mkdirSync(join(pages, 'public/runs'), { recursive: true });
  writeFileSync(join(pages, 'public', path), (await exportRun(journal)).html);
  return `- [${title}](${path}){target="_self"}\n`;
});
await writePlaygroundRun();
const gallery = readFileSync(join(site, 'gallery.md'), 'utf8');
writeFileSync(join(pages, 'gallery.md'), gallery + (await Promise.all(links)).join(''));
run('typedoc');
const api = join(pages, 'api');
const entryOf = (name) => (name === 'index' ? 'postchain' : `postchain/${name}`);
for (const name of readdirSync(api)) {
  const text = readFileSync(join(api, name), 'utf8');
  const titled =
    name === 'index.md'
      ? text.replace(/^#.*\n+## .*/u, '# API').replace(/\[(.+)\]\(/gu, (_, entry) => `[${entryOf(entry)}](`)
      : text.replace(/^# (.*)/u, (_, entry) => `# ${entryOf(entry)}`);
  writeFileSync(join(api, name), titled);
}
if (isDev)
  watch(join(root, 'docs'), { recursive: true }, (_, name) => files.includes(`docs/${name}`) && copy(`docs/${name}`));
run('vitepress', isDev ? 'dev' : 'build');
