#!/usr/bin/env node
import * as module from 'node:module';

// Node 22 and newer cache compiled code, so the next command starts faster.
(module as { readonly enableCompileCache?: () => unknown }).enableCompileCache?.();
const { start } = await import('./start.ts');
await start();
