void f() {}
// ÿþ is no UTF-8
