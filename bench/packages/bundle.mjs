import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/**
 * Returns the gzip size of a minified bundle. It is for browsers, or for Node if the entry cannot be bundled for browsers.
 *
 * @param {string} folder Where the packages are installed.
 * @param {string} entry The source of the entry.
 */
export async function bundle(folder, entry) {
  /** @type {readonly ('browser' | 'node')[]} */
  const platforms = ['browser', 'node'];
  for (const platform of platforms) {
    const bytes = await bundledBytes(folder, entry, platform).catch(() => null);
    if (bytes !== null) return { bytes, platform };
  }
  throw new Error(`cannot be bundled: ${entry}`);
}

/**
 * @param {string} folder
 * @param {string} contents
 * @param {'browser' | 'node'} platform
 */
async function bundledBytes(folder, contents, platform) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2023',
    platform,
    define: { 'process.env.NODE_ENV': '"production"' },
    write: false,
    splitting: false,
    logLevel: 'silent',
  });
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length;
}
