import { builtinModules } from 'node:module';
import { join } from 'node:path';
import commonjs from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import * as esbuild from 'esbuild';
import { rollup } from 'rollup';
import webpack from 'webpack';

/** Each bundles a file for a platform as `out.mjs`, and returns all errors and warnings. */
const bundlers = {
  async esbuild(file, platform, to) {
    const outfile = join(to, 'out.mjs');
    const options = { entryPoints: [file], bundle: true, format: 'esm', platform, outfile, logLevel: 'silent' };
    const { errors, warnings } = await esbuild.build(options).catch((error) => error);
    return [...errors, ...warnings].map(({ text }) => text);
  },
  async rollup(file, platform, to) {
    const problems = [];
    const isBrowser = platform === 'browser';
    const built = await rollup({
      input: file,
      plugins: [nodeResolve({ browser: isBrowser, preferBuiltins: !isBrowser }), commonjs()],
      external: isBrowser ? [] : [/^node:/, ...builtinModules],
      onwarn({ code, message, id = '', ids = [id] }) {
        // Comments and cycles of other packages.
        const isOthers = ids.every((each) => each !== '' && !each.includes('/node_modules/postchain/'));
        if (!(isOthers && ['CIRCULAR_DEPENDENCY', 'INVALID_ANNOTATION'].includes(code))) problems.push(message);
      },
    }).catch((error) => void problems.push(error.message));
    await built?.write({ dir: to, format: 'esm', entryFileNames: 'out.mjs' });
    return problems;
  },
  webpack(file, platform, to) {
    const config = {
      mode: 'production',
      target: platform === 'node' ? 'node20' : 'web',
      entry: file,
      output: { path: to, filename: 'out.mjs', module: true, chunkFormat: 'module' },
      experiments: { outputModule: true },
      // Otherwise it reports the size of every program as a warning.
      performance: false,
    };
    return new Promise((resolve) =>
      webpack(config, (error, stats) => {
        const { errors, warnings } = stats?.toJson({ all: false, errors: true, warnings: true }) ?? {};
        resolve(error ? [error.message] : [...errors, ...warnings].map(({ message }) => message));
      }),
    );
  },
};

const [bundler, platform, file, to] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await bundlers[bundler](file, platform, to)));
