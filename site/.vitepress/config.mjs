import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import llmstxt from 'vitepress-plugin-llms';
import { onFirstUse } from './on-first-use.mjs';

const root = join(import.meta.dirname, '../..');
const { version, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The groups and links of docs/README.md, which lists every page. */
function groups() {
  const text = readFileSync(join(root, 'docs/README.md'), 'utf8');
  return text
    .split(/^## /mu)
    .slice(1)
    .map((part) => {
      const [title = '', ...lines] = part.split('\n');
      const links = [...lines.join('\n').matchAll(/\[([^\]]+)\]\(([^)]+)\.md\)/gu)];
      return {
        text: title,
        collapsed: false,
        items: links.map(([, name, link]) => ({ text: name.replaceAll('`', ''), link: `/${link}` })),
      };
    });
}

export default defineConfig({
  title: 'PostChain',
  description:
    'State machines that survive crashes, and say why: durable XState machines, agents and a testing kit in TypeScript',
  lang: 'en-US',
  srcDir: 'pages',
  outDir: 'dist',
  cleanUrls: true,
  // The playground loads the package with the first question.
  shouldPreload: (link, page) => page !== 'playground.md' || /theme|framework|playground/u.test(link),
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(markdown) {
      const fence = markdown.renderer.rules.fence;
      markdown.renderer.rules.fence = (tokens, at, ...rest) =>
        tokens[at].info === 'mermaid'
          ? `<Diagram id="diagram-${at}" code="${encodeURIComponent(tokens[at].content)}" />`
          : fence(tokens, at, ...rest);
    },
  },
  vite: {
    // The playground runs the built package.
    resolve: {
      alias: [
        { find: /^postchain$/u, replacement: join(root, 'dist/bundlers/index.js') },
        { find: /^postchain\/(.+)$/u, replacement: join(root, 'dist/bundlers/$1.js') },
        { find: /^xstate$/u, replacement: join(root, 'node_modules/xstate') },
      ],
    },
    // Otherwise, the development server finds them at the first question, and reloads the page.
    optimizeDeps: {
      include:
        'zod/mini zod/v4/locales/en.js xstate jsonriver stemmer markdown-it parse5 eventsource-parser openai'.split(
          ' ',
        ),
    },
    worker: { format: 'es' },
    plugins: [llmstxt({ ignoreFiles: ['playground.md'], ignoreFilesPerOutput: { llmsFullTxt: ['api/**', 'api.md'] } })],
    build: { chunkSizeWarningLimit: 4_000 },
  },
  /** Pages that are readable without the app only prefetch it, and run it on first use. Without it, the switch of the theme has no name. */
  transformHtml(html, _, { page }) {
    if (page === '404.md' || /class="(?:playground|mermaid)"/u.test(html)) return html;
    return html
      .replaceAll('<link rel="modulepreload"', '<link rel="prefetch"')
      .replaceAll('role="switch" title ', 'role="switch" title="Dark theme" ')
      .replace(
        /<script type="module" src="([^"]+)"><\/script>/u,
        (_, app) => `<link rel="prefetch" href="${app}"><script>(${onFirstUse})(${JSON.stringify(app)})</script>`,
      );
  },
  /** A page that contains its styles is shown after one request. */
  buildEnd({ outDir }) {
    const pages = readdirSync(outDir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));
    for (const page of pages.map((name) => join(outDir, name))) {
      const inline = (_, path) => `<style>${readFileSync(join(outDir, path), 'utf8')}</style>`;
      writeFileSync(
        page,
        readFileSync(page, 'utf8').replace(/<link rel="preload stylesheet" href="([^"]+)"[^>]*>/gu, inline),
      );
    }
  },
  themeConfig: {
    search: {
      provider: 'local',
      // Pages come before the reference of types.
      options: { miniSearch: { searchOptions: { boostDocument: (id) => (id.startsWith('/api/') ? 0.2 : 1) } } },
    },
    nav: [
      { text: 'Documentation', link: '/docs' },
      { text: 'Playground', link: '/playground' },
      { text: 'Runs', link: '/gallery' },
      { text: 'API', link: '/api/' },
      { text: version, link: '/changelog' },
    ],
    sidebar: groups(),
    socialLinks: [{ icon: 'github', link: repository.url.replace(/^git\+|\.git$/gu, '') }],
    outline: [2, 3],
  },
});
