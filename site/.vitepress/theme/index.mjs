import './playground.css';
import './diagram.css';
import DefaultTheme from 'vitepress/theme';
import { diagram } from './diagram.mjs';

export default { extends: DefaultTheme, enhanceApp: ({ app }) => void app.component('Diagram', diagram) };
