import { Miniflare } from 'miniflare';

const [script, url] = process.argv.slice(2);
const workerd = new Miniflare({ modules: [{ type: 'ESModule', path: script }], compatibilityDate: '2026-07-01' });
try {
  const response = await workerd.dispatchFetch(url);
  process.stdout.write(await response.text());
} finally {
  await workerd.dispose();
}
