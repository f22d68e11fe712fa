#!/usr/bin/env node
import * as module from 'node:module';

// From Node 22 on, the next command loads what this one has compiled.
(module as { readonly enableCompileCache?: () => unknown }).enableCompileCache?.();
const { start } = await import('./start.ts');
await start();
