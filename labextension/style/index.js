import '../lib/index.css';
