module bsdb.example/lookup

go 1.21
