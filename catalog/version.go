package catalog

// version is what the linker wrote into a release (make release: -X); empty elsewhere. Nothing assigns to it.
var version string
