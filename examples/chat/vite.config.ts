import { defineConfig } from 'vite';

// An object: for a plain URL, Vite changes the Host, and the server then rejects the page as foreign.
const target = { target: 'http://127.0.0.1:8787' };

export default defineConfig({ server: { proxy: { '/api': target, '/runs': target } } });
