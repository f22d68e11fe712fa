import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ServerApp } from './server-app.tsx';

const root = document.getElementById('root');
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <ServerApp />
    </StrictMode>,
  );
