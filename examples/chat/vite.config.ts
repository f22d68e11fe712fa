import { defineConfig } from 'vite';

const target = 'http://127.0.0.1:8787';

export default defineConfig({ server: { proxy: { '/api': target, '/runs': target } } });
