// Stands in for style sheets and icons, which jest cannot read.
module.exports = '';
